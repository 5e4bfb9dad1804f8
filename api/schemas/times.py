"""How far ahead a send may be due, and may expire.

What lies in the past is looked at later (api/accept/validity.py): a request that is repeated with its Idempotency-Key
gets its first answer also when the time that it names has come.
"""

from datetime import UTC, datetime, timedelta

from api.schemas.errors import fail

MAX_TIME_AHEAD = timedelta(days=90)


def check_due(send_at: datetime) -> None:
    """90 days ahead at most."""
    if send_at > datetime.now(UTC) + MAX_TIME_AHEAD:
        raise fail("too_far_ahead", "A send can be scheduled at most 90 days ahead.")


def check_expiry(expires_at: datetime) -> None:
    """Not for ever."""
    if expires_at > datetime.now(UTC) + MAX_TIME_AHEAD + timedelta(days=7):
        raise fail("invalid_time", "`expires_at` may be at most 97 days ahead.")
