"""Quiet hours, by the clock of the recipient.

Where a phone is, its prefix tells (libphonenumber's table of time zones), and where that may be in several zones, it
must be allowed in each of them; where no hour of the day is, the zone in the middle decides. All recipients of a batch
are in the same zones, so a batch waits as a whole, and goes when it is allowed.

Quiet is from a minute of the day, inclusive, until another, exclusive; from 21:00 until 08:00 goes over midnight.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from phonenumbers.tzdata import TIMEZONE_DATA, TIMEZONE_LONGEST_PREFIX

__all__ = ["by_zone", "clock", "next_allowed", "zones_of"]

Zones = tuple[str, ...]
UNKNOWN: Zones = ("Etc/UTC",)
"""Of a phone whose prefix is in no country."""
DAY = 24 * 60
MAX_STEPS = 12
"""Ends of quiet hours that are tried until one suits all zones."""


def zones_of(phone: str) -> Zones:
    """The time zones that a phone may be in, by its longest known prefix."""
    for size in range(min(TIMEZONE_LONGEST_PREFIX, len(phone)), 0, -1):
        zones = TIMEZONE_DATA.get(phone[:size])
        if zones is not None:
            return tuple(zones)
    return UNKNOWN


def by_zone(phones: Sequence[str]) -> list[list[int]]:
    """The places of the phones, those in the same time zones together, in the order in which each set comes first."""
    indexes: dict[Zones, list[int]] = {}
    for index, phone in enumerate(phones):
        indexes.setdefault(zones_of(phone), []).append(index)
    return list(indexes.values())


def clock(minute: int) -> str:
    """A minute of the day as a time, such as 21:00."""
    return f"{minute // 60:02}:{minute % 60:02}"


def next_allowed(zones: Zones, quiet: tuple[int, int], now: datetime) -> datetime:
    """When something may be sent to phones of these zones: `now`, or when their quiet hours are over.

    `quiet` are the minutes of the day from and until which it is quiet. In the hour that a clock skips in spring, the
    end comes up to an hour late.
    """
    clocks = _clocks(zones)
    found = _next_in_all(clocks, quiet, now)
    if found is None:
        ordered = sorted(clocks, key=lambda clock: (now.astimezone(clock).utcoffset() or timedelta(), str(clock)))
        found = _next_in_all((ordered[len(ordered) // 2],), quiet, now)
    assert found is not None  # one zone alone has an end of its quiet hours
    return found


def _next_in_all(clocks: Sequence[ZoneInfo], quiet: tuple[int, int], now: datetime) -> datetime | None:
    """The first end of quiet hours that suits all clocks; None where none of the next ones does."""
    moment = now
    for _ in range(MAX_STEPS):
        later = max(_end(clock, quiet, moment) for clock in clocks)
        if later == moment:
            return moment
        moment = later
    return None


def _end(clock: ZoneInfo, quiet: tuple[int, int], moment: datetime) -> datetime:
    """The moment itself where it is not quiet, else when it ends."""
    begins, ends = quiet
    local = moment.astimezone(clock)
    minute = local.hour * 60 + local.minute
    is_quiet = begins <= minute < ends if begins < ends else minute >= begins or minute < ends
    if not is_quiet:
        return moment
    day = local + timedelta(days=1) if minute >= ends else local
    end = day.replace(hour=ends // 60, minute=ends % 60, second=0, microsecond=0).astimezone(UTC)
    return end if end > moment else moment + timedelta(minutes=1)


@lru_cache(1024)
def _clocks(zones: Zones) -> tuple[ZoneInfo, ...]:
    """The zones that this machine knows, each offset and rule once."""
    found = []
    for zone in zones:
        try:
            found.append(ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError):
            continue
    return tuple(found) or (ZoneInfo("UTC"),)
