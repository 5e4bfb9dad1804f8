"""API keys: their format, creation, and storage.

    key      smsk_live_ or smsk_test_ and 12 letters or digits
    secret   smss_ and 43 letters or digits (256 random bits), an underscore, and 6 for their CRC-32

An operator key is opk_ and 12 letters or digits, and its secret begins with ops_ instead of smss_. The checksum lets
scanners recognize a leaked secret offline. Only the secret's HMAC is stored.
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
DIGEST_BYTES = 32
MAX_NETWORKS = 50
"""Maximum number of networks of one key."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NewKey(NamedTuple):
    """A new key, shown only once."""

    api_key: str
    api_secret: str


def make_key(test: bool = False) -> NewKey:
    """Create a random key and secret."""
    return NewKey(f"smsk_{'test' if test else 'live'}_{_random(12)}", _secret(_random(43)))


def make_operator_key() -> NewKey:
    """Create a random operator key and its secret."""
    return NewKey(f"opk_{_random(12)}", _secret(_random(43), "ops"))


def networks(allowed: Sequence[str] | None) -> tuple[Network, ...]:
    """Parse networks such as `192.0.2.0/24`, or single addresses. Raises ValueError that names an invalid one."""
    return tuple(ipaddress.ip_network(each) for each in allowed or ())


def is_within(address: str, allowed: Sequence[Network]) -> bool:
    """Whether the address is in one of the networks. An invalid address is in none."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(parsed in network for network in allowed)


def checksum(body: str) -> str:
    """Six characters that reveal a mistyped secret."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(ALPHABET))
        digits += ALPHABET[digit]
    return digits


def secret_key_id(secret_key: str) -> bytes:
    """Four bytes that identify a SECRET_KEY."""
    return hmac.digest(secret_key.encode(), b"secret-key-id\0", hashlib.sha256)[:4]


def hash_secret(secret: str, pepper: str) -> bytes:
    """The stored form of a secret: the id of the SECRET_KEY, and the secret's HMAC-SHA-256 under it."""
    return secret_key_id(pepper) + _digest(secret, pepper)


def matches(stored: bytes, secret: str, peppers: Iterable[str]) -> bool:
    """Whether a secret is the stored one, under one of the keys. Takes constant time."""
    digest = stored[-DIGEST_BYTES:]
    return sum(same(digest, _digest(secret, pepper)) for pepper in peppers) > 0


def same(stored: bytes, given: bytes) -> bool:
    """Whether two hashes are equal. Takes constant time."""
    return hmac.compare_digest(stored, given)


def _digest(secret: str, pepper: str) -> bytes:
    return hmac.digest(pepper.encode(), b"api-secret\0" + secret.encode("utf-8", "surrogatepass"), hashlib.sha256)


def _secret(body: str, prefix: str = "smss") -> str:
    return f"{prefix}_{body}_{checksum(body)}"


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
