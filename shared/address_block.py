"""Which addresses one client has."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

MAX_CACHED_ADDRESSES = 10_000


@lru_cache(MAX_CACHED_ADDRESSES)
def address_block(address: str) -> str:
    """The address block of one client: a single IPv4 address, or the /64 of an IPv6 address (RFC 6177 §2)."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
    return address
