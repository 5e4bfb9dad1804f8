"""Attempts to sign in through the provider. The client keeps an attempt, which only the API can read.

It ties the provider's response to the browser that began (`state`), the ID token to this attempt (`nonce`), and the
code to the API (`verifier`, RFC 7636).
"""

import hmac
import json
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from shared.encryption import derive_key

VALID = timedelta(minutes=10)
RANDOM_BYTES = 32


class OidcAttempt(NamedTuple):
    """What an attempt must come back with."""

    state: str
    nonce: str
    verifier: str


class OidcAttempts:
    """Makes attempts and reads them, under the keys of the installation."""

    def __init__(self, secret_key: str, fallbacks: Sequence[str] = ()) -> None:
        keys = [derive_key(key, b"oidc attempts") for key in (secret_key, *fallbacks)]
        self._sealed = MultiFernet([Fernet(urlsafe_b64encode(key)) for key in keys])

    def begin(self) -> tuple[OidcAttempt, str, datetime]:
        """A new attempt, its sealed form, and when it expires."""
        attempt = OidcAttempt(*(secrets.token_urlsafe(RANDOM_BYTES) for _ in OidcAttempt._fields))
        sealed = self._sealed.encrypt(json.dumps(attempt).encode()).decode()
        return attempt, sealed, datetime.now(UTC) + VALID

    def read(self, sealed: str, state: str) -> OidcAttempt | None:
        """The attempt; None if it is not ours, has expired, or has another state."""
        try:
            attempt = OidcAttempt(*json.loads(self._sealed.decrypt(sealed.encode())))
            age = time.time() - self._sealed.extract_timestamp(sealed.encode())
        except (InvalidToken, ValueError):
            return None
        if age > VALID.total_seconds():  # the host that made it may be ahead
            return None
        return attempt if hmac.compare_digest(attempt.state.encode(), state.encode()) else None
