"""API keys: how they look, how they are made, how their secrets are kept.

    key      smsk_live_ or smsk_test_ and 12 letters or digits
    secret   smss_ and 43 letters or digits (256 random bits), a low line, and 6 of their CRC-32

The checksum lets a scanner recognise a leaked secret without asking us. Only the secret's HMAC is stored.
"""

import hashlib
import hmac
import ipaddress
import secrets
import string
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

ALPHABET = string.digits + string.ascii_letters
SCOPES = (
    "sms:send",
    "sms:read",
    "balance:read",
    "groups:read",
    "groups:write",
    "keys:read",
    "keys:write",
    "senders:read",
    "senders:write",
    "suppressions:read",
    "suppressions:write",
    "webhooks:read",
    "webhooks:write",
    "privacy:write",
)
DEFAULT_SCOPES = ("sms:send", *(scope for scope in SCOPES if scope.endswith(":read")))
"""Of a key for which none are asked: to send, and to read."""
DIGEST_BYTES = 32
MAX_NETWORKS = 50
"""Networks of one key."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NewKey(NamedTuple):
    """A key as it is shown once, at its making."""

    api_key: str
    api_secret: str


def make_key(test: bool = False) -> NewKey:
    """A new random key and secret."""
    return NewKey(f"smsk_{'test' if test else 'live'}_{_random(12)}", _secret(_random(43)))


def networks(allowed: Sequence[str] | None) -> tuple[Network, ...]:
    """Networks as addresses are compared with: `192.0.2.0/24`, or one address. Raises ValueError naming a wrong one."""
    return tuple(ipaddress.ip_network(each) for each in allowed or ())


def is_within(address: str, allowed: Sequence[Network]) -> bool:
    """Whether an address is in one of the networks; what is no address is in none."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(parsed in network for network in allowed)


def checksum(body: str) -> str:
    """Six characters by which a secret can be told from a typing mistake."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(ALPHABET))
        digits += ALPHABET[digit]
    return digits


def secret_key_id(secret_key: str) -> bytes:
    """Four bytes that tell one SECRET_KEY from another."""
    return hmac.digest(secret_key.encode(), b"secret-key-id\0", hashlib.sha256)[:4]


def hash_secret(secret: str, pepper: str) -> bytes:
    """What is stored of a secret: the id of the installation's SECRET_KEY, and HMAC-SHA-256 under it."""
    return secret_key_id(pepper) + _digest(secret, pepper)


def matches(stored: bytes, secret: str, peppers: Iterable[str]) -> bool:
    """Whether a secret is the stored one, under one of the keys, in a time that does not tell which.

    Older releases stored the HMAC without the id of its key.
    """
    digest = stored[-DIGEST_BYTES:]
    return sum(same(digest, _digest(secret, pepper)) for pepper in peppers) > 0


def same(stored: bytes, given: bytes) -> bool:
    """Whether two hashes are equal, in a time that tells nothing."""
    return hmac.compare_digest(stored, given)


def _digest(secret: str, pepper: str) -> bytes:
    return hmac.digest(pepper.encode(), b"api-secret\0" + secret.encode("utf-8", "surrogatepass"), hashlib.sha256)


def _secret(body: str) -> str:
    return f"smss_{body}_{checksum(body)}"


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
