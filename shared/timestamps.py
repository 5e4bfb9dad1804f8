"""Times as the API and its events write them."""

from datetime import UTC, datetime


def rfc3339(moment: datetime) -> str:
    """A time by RFC 3339: in UTC, to the millisecond, with `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
