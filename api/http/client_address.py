"""The client address of a request."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.api_key import Network, is_within

MAX_HOPS = 32
"""Entries of X-Forwarded-For that are read, from the right. The client controls the ones further left."""


def address_of(environ: Mapping[str, Any], trusted: Sequence[Network]) -> str:
    """The client's address: the peer's, or the forwarded one if the peer is a trusted proxy.

    The forwarded address is the rightmost entry of X-Forwarded-For that is not a trusted proxy; the client can forge
    everything to its left. If every entry is a trusted proxy, it is the leftmost.
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
