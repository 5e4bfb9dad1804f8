"""When a send may be due, and when it may expire."""

from datetime import UTC, datetime, timedelta

from api.schemas.base import fail

MOST_AHEAD = timedelta(days=90)


def check_due(send_at: datetime) -> None:
    """90 days ahead at most."""
    if send_at > datetime.now(UTC) + MOST_AHEAD:
        raise fail("too_far_ahead", "A send can be scheduled at most 90 days ahead.")


def check_expiry(expires_at: datetime) -> None:
    """Not in the past, and not for ever."""
    now = datetime.now(UTC)
    if not now < expires_at <= now + MOST_AHEAD + timedelta(days=7):
        raise fail("invalid_time", "`expires_at` must be in the future, and at most 97 days ahead.")
