"""Checks of the times in requests.

That of a send may have passed: api/accept/accept.py checks it later, so that a request repeated with its
Idempotency-Key is replayed even after its `send_at`.
"""

from datetime import UTC, datetime, timedelta

from api.schemas.errors import fail

MAX_TIME_AHEAD = timedelta(days=90)


def check_due(send_at: datetime) -> None:
    """Raise ValidationError for more than 90 days ahead."""
    if send_at > datetime.now(UTC) + MAX_TIME_AHEAD:
        raise fail("too_far_ahead", "A send can be scheduled at most 90 days ahead.")


def check_expiry(expires_at: datetime) -> None:
    """Raise ValidationError for more than 97 days ahead."""
    if expires_at > datetime.now(UTC) + MAX_TIME_AHEAD + timedelta(days=7):
        raise fail("invalid_time", "`expires_at` may be at most 97 days ahead.")


def check_future(moment: datetime) -> None:
    """Raise ValidationError for a time that has passed."""
    if moment <= datetime.now(UTC):
        raise fail("invalid_time", "Use a time in the future.")


def check_past(moment: datetime) -> None:
    """Raise ValidationError for a time that has not come."""
    if moment > datetime.now(UTC):
        raise fail("invalid_time", "Use a time in the past.")
