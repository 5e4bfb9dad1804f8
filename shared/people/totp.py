"""Time-based one-time passwords (RFC 6238): six digits, 30 seconds, HMAC-SHA-1, as authenticator apps expect them."""

import hmac
import secrets
import time
from base64 import b32decode, b32encode
from urllib.parse import quote, urlencode

DIGITS = 6
STEP_SECONDS = 30
SKEW_STEPS = 1
"""Steps before and after the current one whose codes are accepted (RFC 6238 §5.2)."""
SECRET_BYTES = 20
"""As long as HMAC-SHA-1's output (RFC 4226 §4, R6)."""
ISSUER = "Bulk SMS"


def new_totp_secret() -> str:
    """A random secret, in base32."""
    return b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def code_at(secret: str, step: int) -> str:
    """The code of a time step (RFC 4226 §5.3)."""
    digest = hmac.digest(b32decode(secret), step.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def matching_step(secret: str, code: str, now: float | None = None) -> int | None:
    """The time step that the code belongs to, if it is a current one. `now` is seconds since the epoch."""
    current = int((time.time() if now is None else now) // STEP_SECONDS)
    steps = range(current - SKEW_STEPS, current + SKEW_STEPS + 1)
    given = code.encode("utf-8", "surrogatepass")
    matching = [step for step in steps if hmac.compare_digest(code_at(secret, step).encode(), given)]
    return matching[-1] if matching else None


def uri_of(secret: str, email: str) -> str:
    """The `otpauth` address that authenticator apps read from a QR code."""
    label = quote(f"{ISSUER}:{email}", safe=":@")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': ISSUER}, quote_via=quote)}"
