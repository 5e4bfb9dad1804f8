"""Times that tests send: always relative to now, so that no test passes its date."""

from datetime import UTC, datetime, timedelta


def ahead(by: timedelta = timedelta(days=1)) -> str:
    """A time so far ahead of now, as the API reads and writes it: RFC 3339, UTC, to the second."""
    return (datetime.now(UTC) + by).strftime("%Y-%m-%dT%H:%M:%SZ")
