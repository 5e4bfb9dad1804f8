"""When a send is due, and when its messages expire."""

from datetime import datetime, timedelta

from api.problems import Problem, invalid

VALIDITY = timedelta(hours=72)
"""Default time from when a send is due until its messages expire."""
TOLERANCE = timedelta(seconds=60)
"""How long ago a `send_at` may be and mean now: clocks differ, and requests take time. An older one is a mistake."""


def due_time(send_at: datetime | None, now: datetime) -> datetime | None:
    """When to send; None means now. Raises Problem validation_failed for a time more than 60 seconds ago."""
    if send_at is None or send_at > now:
        return send_at
    if send_at < now - TOLERANCE:
        detail = "`send_at` is more than 60 seconds ago. Use a future time, or omit it to send now."
        raise _invalid_time("/send_at", detail)
    return None


def expiry_time(expires_at: datetime | None, due: datetime, now: datetime) -> datetime:
    """When unsent messages expire. Raises Problem validation_failed for a time before the send is due."""
    if expires_at is None:
        return due + VALIDITY
    if expires_at <= now:
        raise _invalid_time("/expires_at", "`expires_at` must be in the future.")
    if expires_at <= due:
        detail = "The message would expire before it is due. Use an `expires_at` after `send_at`."
        raise _invalid_time("/expires_at", detail)
    return expires_at


def is_default(expires_at: datetime, send_at: datetime | None, created_at: datetime) -> bool:
    """Whether `expires_at` is the default, so that it moves with `send_at`."""
    return expires_at == (send_at or created_at) + VALIDITY


def _invalid_time(pointer: str, detail: str) -> Problem:
    return invalid([{"pointer": pointer, "code": "invalid_time", "detail": detail}])
