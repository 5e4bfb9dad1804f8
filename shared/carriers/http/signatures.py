"""Authenticates callbacks of carriers: by password, by a secret in the URL, or by a signature.

Comparisons take constant time.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import NamedTuple

import jwt

from shared.carriers.http.config import Callback, HttpConfig

LEEWAY = 300
"""Seconds by which the carrier's clock may be ahead. Callbacks may be of any age: they are idempotent."""


class Call(NamedTuple):
    """A received callback: header names in lower case, `query` and `form` with the first value of each name."""

    what: str
    """`receipts` or `inbound`."""
    headers: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    body: bytes
    query_string: str = ""

    def __repr__(self) -> str:
        """Omit the contents."""
        return f"Call({self.what}, {len(self.body)} bytes)"


def is_authentic(config: HttpConfig, call: Call) -> bool:
    """Whether the carrier made the call. Always False for a carrier without a `callback` table."""
    if config.callback is None:
        return False
    return _CHECKS[config.callback.auth](config, config.callback, call)


def same(given: str, expected: str) -> bool:
    """Whether two strings are equal, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def _basic(config: HttpConfig, callback: Callback, call: Call) -> bool:
    scheme, _, credentials = call.headers.get("authorization", "").partition(" ")
    expected = base64.b64encode(f"{callback.user}:{callback.secret}".encode()).decode()
    return scheme.lower() == "basic" and same(credentials.strip(), expected)


def _secret(config: HttpConfig, callback: Callback, call: Call) -> bool:
    return same(call.query.get("key", ""), callback.secret)


def _hmac(config: HttpConfig, callback: Callback, call: Call) -> bool:
    signature = call.headers.get(callback.header.lower(), "")
    if not signature.startswith(callback.prefix):
        return False
    digest = hmac.digest(callback.secret.encode(), call.body, hashlib.sha256)
    given = signature.removeprefix(callback.prefix).strip()
    expected = digest.hex() if re.fullmatch(r"[0-9A-Fa-f]{64}", given) else base64.b64encode(digest).decode()
    return same(given.lower() if len(given) == 64 else given, expected)


def _twilio(config: HttpConfig, callback: Callback, call: Call) -> bool:
    """X-Twilio-Signature: HMAC-SHA-1, in base64, of the URL and the form's sorted names and values."""
    address = f"{config.public_url.rstrip('/')}/carriers/{config.name}/{call.what}"
    address += f"?{call.query_string}" if call.query_string else ""
    signed = address + "".join(name + call.form[name] for name in sorted(call.form))
    digest = hmac.digest(callback.secret.encode(), signed.encode("utf-8", "replace"), hashlib.sha1)
    return same(call.headers.get("x-twilio-signature", ""), base64.b64encode(digest).decode())


def _jwt(config: HttpConfig, callback: Callback, call: Call) -> bool:
    """A bearer token (HS256) whose `payload_hash` claim is the SHA-256 of the body."""
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    try:
        claims = jwt.decode(
            token.strip(), callback.secret, ["HS256"], leeway=LEEWAY, options={"require": ["iat"], "verify_aud": False}
        )
    except (jwt.InvalidTokenError, binascii.Error, ValueError):
        return False
    payload_hash = claims.get("payload_hash")
    return isinstance(payload_hash, str) and same(payload_hash.lower(), hashlib.sha256(call.body).hexdigest())


_CHECKS = {"basic": _basic, "secret": _secret, "hmac": _hmac, "twilio": _twilio, "jwt": _jwt}
