"""Validates webhook URLs: https to public addresses only, to prevent server-side request forgery.

The URL itself is checked when it is set and before each post. The addresses of its host are checked when connecting,
and the connection goes to the address that was checked. Python's `is_global` is true for some addresses with an
embedded IPv4 address, so those are refused by prefix.
"""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

MAX_URL_LENGTH = 2048
PORTS = (443, 8443)
LOOPBACK = ("localhost", "127.0.0.1", "::1")

HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+", re.I | re.A)
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.I | re.A)
INTERNAL_HOST = re.compile(r"(?:.*\.)?(?:localhost|local|internal|lan|home\.arpa|onion)", re.I | re.A)
VISIBLE = re.compile(r"[!-~]+")

REFUSED_NETWORKS: list[IPv4Network | IPv6Network] = [
    IPv4Network("168.63.129.16/32"),  # a cloud's host, as its virtual machines see it
    IPv4Network("192.0.0.0/24"),  # protocols
    IPv4Network("192.88.99.0/24"),  # 6to4 relays
    IPv6Network("2001::/23"),  # Teredo, ORCHID and other protocols
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("2001:db8::/32"),
    IPv6Network("3fff::/20"),
    IPv6Network("5f00::/16"),
]
GLOBAL_UNICAST = IPv6Network("2000::/3")
"""Excludes loopback, IPv4-mapped, IPv4-compatible, NAT64, unique local, link-local and multicast addresses."""


def url_problem(url: str, loopback: bool = False) -> str | None:
    """The error message for an invalid webhook URL; None if it is valid. Does not resolve the host.

    `loopback` also allows http and this machine, for development.
    """
    if len(url) > MAX_URL_LENGTH or not VISIBLE.fullmatch(url) or "\\" in url:
        return f"A URL is 1 to {MAX_URL_LENGTH} visible ASCII characters, without backslashes."
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "This is not a URL."
    if "@" in parts.netloc or parts.fragment or "#" in url:
        return "Use a URL without a user, password or fragment."
    if loopback and parts.scheme in ("http", "https") and host in LOOPBACK:
        return None
    if parts.scheme != "https":
        return "Begin with https://."
    if port not in (None, *PORTS):
        return f"Use port {' or '.join(map(str, PORTS))}."
    return _host_problem(host)


def _host_problem(host: str) -> str | None:
    literal = _literal(host)
    if literal is not None:
        return address_problem(literal)
    if not HOST.fullmatch(host) or len(host) > 253 or NUMBER.fullmatch(host.rpartition(".")[2]):
        return "Use a full host name, such as example.com."
    if INTERNAL_HOST.fullmatch(host):
        return "Use a host name that is reachable from the internet."
    return None


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def address_problem(address: IPv4Address | IPv6Address) -> str | None:
    """The error message for an address that is not public; None if it is."""
    public = address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
    if address.version == 6 and (address not in GLOBAL_UNICAST or getattr(address, "scope_id", None)):
        public = False
    if not public or any(address.version == net.version and address in net for net in REFUSED_NETWORKS):
        return "The address is not a public one."
    return None


def loopback_problem(address: IPv4Address | IPv6Address) -> str | None:
    """The error message for an address that is not a loopback address; None if it is one."""
    return None if address.is_loopback else "The address is not of this machine."
