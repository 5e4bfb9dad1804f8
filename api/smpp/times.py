"""Times of SMPP 3.4 (§7.1.1): `YYMMDDhhmmsstnnp`, absolute with an offset in quarter hours, or relative with `R`."""

import re
from datetime import UTC, datetime, timedelta

FORM = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9])([0-9]{2})([-+R])")


def read_time(value: str, now: datetime) -> datetime | None:
    """The time; None for none. A relative month has 30 days, a year 365. Raises ValueError if it is no time."""
    if not value:
        return None
    match = FORM.fullmatch(value)
    if match is None:
        raise ValueError("a time has the form YYMMDDhhmmsstnnp")
    year, month, day, hour, minute, second, tenth, quarters = map(int, match.groups()[:8])
    if match[9] == "R":
        days = 365 * year + 30 * month + day
        return now + timedelta(days=days, hours=hour, minutes=minute, seconds=second)
    offset = timedelta(minutes=15 * quarters)
    local = datetime(2000 + year, month, day, hour, minute, second, 100_000 * tenth, tzinfo=UTC)
    return local - offset if match[9] == "+" else local + offset


def written_time(moment: datetime | None) -> str:
    """An absolute time in UTC; empty for none."""
    return "" if moment is None else f"{moment.astimezone(UTC):%y%m%d%H%M%S}000+"


def short_time(moment: datetime) -> str:
    """A time as receipts have it: YYMMDDhhmm, in UTC."""
    return f"{moment.astimezone(UTC):%y%m%d%H%M}"
