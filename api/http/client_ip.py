"""Where a request comes from."""

import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from shared.api_key import Network, is_within

REMEMBERED = 10_000
"""Addresses."""
MAX_HOPS = 32
"""Proxies that are looked through: more are the client's own word."""


def address_of(environ: Mapping[str, Any], trusted: Sequence[Network]) -> str:
    """The client's address: the peer's, or where the peer is a proxy of `trusted`, the one that the proxy names.

    Of X-Forwarded-For that is the last one that is no trusted proxy itself: what stands before it is the client's own
    word. Where all of them are trusted, it is the first.
    """
    peer = str(environ.get("REMOTE_ADDR") or "")
    if not trusted or not is_within(peer, trusted):
        return peer
    forwarded = str(environ.get("HTTP_X_FORWARDED_FOR") or "").rsplit(",", MAX_HOPS)[-MAX_HOPS:]
    hops = [hop.strip() for hop in forwarded if hop.strip()]
    for hop in reversed(hops):
        if not is_within(hop, trusted):
            return hop
    return hops[0] if hops else peer


@lru_cache(REMEMBERED)
def shared_by_one(address: str) -> str:
    """What one client may have all of: an address of IPv4, or the /64 of one of IPv6 (RFC 6177 §2)."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address
