"""Limits how often passwords, codes, links and invitations are guessed, by address and by e-mail address.

Failures are counted by all API processes together, as requests are. A person who signed in lately from an address is
counted separately there: strangers who guess at their e-mail address from elsewhere do not lock them out.
"""

import hmac
from collections.abc import Iterator
from contextlib import contextmanager

from api.limits.credential_attempts import counted_attempt
from api.limits.rate_limits import Buckets
from shared.encryption import derive_key

OF_ADDRESS, ADDRESS_SECONDS = 20, 60.0
OF_EMAIL, EMAIL_SECONDS = 10, 600.0
"""Failures at once, and the seconds after which as many are possible again."""
FAILURES = ("invalid_credentials", "invalid_code", "invalid_link", "oidc_failed")


class PasswordAttempts:
    """Counts the failed attempts of one process; SharedRateLimit synchronizes its buckets between processes."""

    def __init__(self, secret_key: str) -> None:
        self.addresses = Buckets(OF_ADDRESS / ADDRESS_SECONDS, burst=ADDRESS_SECONDS)
        self.emails = Buckets(OF_EMAIL / EMAIL_SECONDS, burst=EMAIL_SECONDS)
        self._secret = derive_key(secret_key, b"password attempts")

    @contextmanager
    def of_address(self, network: str) -> Iterator[None]:
        """Check a secret in this block; a failure counts against the block of addresses.

        Raises Problem rate_limited, without entering the block, after too many.
        """
        with counted_attempt(self.addresses, network, "Too many failed attempts from this address.", FAILURES):
            yield

    @contextmanager
    def of_email(self, email: str, network: str, *, is_known_network: bool) -> Iterator[None]:
        """Check a password or code in this block; a failure counts against the e-mail address too."""
        subject = f"{email} {network}" if is_known_network else email
        hidden = hmac.digest(self._secret, subject.encode(), "sha256").hex()
        with counted_attempt(self.emails, hidden, "Too many failed attempts for this e-mail address.", FAILURES):
            yield
