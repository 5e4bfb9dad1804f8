"""API keys: how they look, how they are made, how their secrets are kept.

    key      smsk_live_ or smsk_test_ and 12 letters or digits
    secret   smss_ and 43 letters or digits (256 random bits), a low line, and 6 of their CRC-32

The checksum lets a scanner recognise a leaked secret without asking us. Only the secret's HMAC is stored.
"""

import hashlib
import hmac
import secrets
import string
import zlib
from typing import NamedTuple

ALPHABET = string.digits + string.ascii_letters
SCOPES = ("sms:send", "sms:read", "balance:read", "groups:read", "groups:write")


class NewKey(NamedTuple):
    """A key as it is shown once, at its making."""

    api_key: str
    api_secret: str


def make_key(test: bool = False) -> NewKey:
    """A new random key and secret."""
    body = _random(43)
    return NewKey(f"smsk_{'test' if test else 'live'}_{_random(12)}", f"smss_{body}_{checksum(body)}")


def checksum(body: str) -> str:
    """Six characters by which a secret can be told from a typing mistake."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(ALPHABET))
        digits += ALPHABET[digit]
    return digits


def hash_secret(secret: str, pepper: str) -> bytes:
    """What is stored of a secret: HMAC-SHA-256 under the installation's SECRET_KEY."""
    return hmac.digest(pepper.encode(), b"api-secret\0" + secret.encode("utf-8", "surrogatepass"), hashlib.sha256)


def same(stored: bytes, given: bytes) -> bool:
    """Whether two hashes are equal, in a time that tells nothing."""
    return hmac.compare_digest(stored, given)


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
