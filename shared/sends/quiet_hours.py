"""Quiet hours, by the recipient's local time.

A phone's prefix gives its time zones (libphonenumber's table). An area code of +1 that is newer than the table has the
continental zones of its country, not those of all islands, too. If there are several, sending must be allowed in all of
them; if no hour of the day is, the middle zone decides. All recipients of a batch are in the same zones, so a batch
waits as a whole.

Quiet hours begin at a minute of the day, inclusive, and end at another, exclusive; 21:00 to 08:00 includes midnight.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from phonenumbers.tzdata import TIMEZONE_DATA, TIMEZONE_LONGEST_PREFIX

from shared.sms.countries import country_of, country_prefix

Zones = tuple[str, ...]
UNKNOWN: Zones = ("Etc/UTC",)
"""The zone of a phone with an unknown prefix."""
CANADA: Zones = tuple(
    f"America/{city}" for city in ("St_Johns", "Halifax", "Toronto", "Winnipeg", "Edmonton", "Vancouver")
)
UNITED_STATES: Zones = tuple(f"America/{city}" for city in ("New_York", "Chicago", "Denver", "Los_Angeles"))
DAY = 24 * 60
MAX_STEPS = 12
"""How many ends of quiet hours are tried to find one that suits all zones."""


def zones_of(phone: str) -> Zones:
    """The time zones that a phone may be in, by its longest known prefix."""
    for size in range(min(TIMEZONE_LONGEST_PREFIX, len(phone)), 0, -1):
        zones = TIMEZONE_DATA.get(phone[:size])
        if phone[:size] == "1":
            return CANADA if country_of(country_prefix(phone)) == "CA" else UNITED_STATES
        if zones is not None:
            return tuple(zones)
    return UNKNOWN


def by_zone(phones: Sequence[str]) -> list[list[int]]:
    """The phones' indexes, grouped by time zones, in order of each group's first phone."""
    indexes: dict[Zones, list[int]] = {}
    for index, phone in enumerate(phones):
        indexes.setdefault(zones_of(phone), []).append(index)
    return list(indexes.values())


def clock(minute: int) -> str:
    """A minute of the day as a time, such as 21:00."""
    return f"{minute // 60:02}:{minute % 60:02}"


def next_allowed(zones: Zones, quiet: tuple[int, int], now: datetime) -> datetime:
    """The earliest time to send to phones in these zones: `now`, or the end of their quiet hours.

    `quiet` is when quiet hours begin and end, in minutes since midnight; the end is exclusive. An end within the hour
    that is skipped in spring comes when the clocks are set.
    """
    clocks = _clocks(zones)
    allowed = _next_in_all(clocks, quiet, now)
    if allowed is None:
        ordered = sorted(clocks, key=lambda clock: (now.astimezone(clock).utcoffset() or timedelta(), str(clock)))
        allowed = _next_in_all((ordered[len(ordered) // 2],), quiet, now)
    assert allowed is not None  # in one zone quiet hours always end
    return allowed


def _next_in_all(clocks: Sequence[ZoneInfo], quiet: tuple[int, int], now: datetime) -> datetime | None:
    """The first end of quiet hours that suits all clocks; None if none of the next ones does."""
    moment = now
    for _ in range(MAX_STEPS):
        later = max(_end(clock, quiet, moment) for clock in clocks)
        if later == moment:
            return moment
        moment = later
    return None


def _end(clock: ZoneInfo, quiet: tuple[int, int], moment: datetime) -> datetime:
    """The moment itself, or the end of the quiet hours that it is in."""
    if not _is_quiet(clock, quiet, moment):
        return moment
    ends, local = quiet[1], moment.astimezone(clock)
    day = local + timedelta(days=1) if local.hour * 60 + local.minute >= ends else local
    end = day.replace(hour=ends // 60, minute=ends % 60, second=0, microsecond=0).astimezone(UTC)
    if end <= moment:
        return moment + timedelta(minutes=1)
    changed = _change(clock, moment, end)
    return end if changed is None or _is_quiet(clock, quiet, changed) else changed


def _is_quiet(clock: ZoneInfo, quiet: tuple[int, int], moment: datetime) -> bool:
    begins, ends = quiet
    local = moment.astimezone(clock)
    minute = local.hour * 60 + local.minute
    return begins <= minute < ends if begins < ends else minute >= begins or minute < ends


def _change(clock: ZoneInfo, moment: datetime, end: datetime) -> datetime | None:
    """When the clocks are set between two moments, to the second; None if they are not."""
    before = moment.astimezone(clock).utcoffset()
    if end.astimezone(clock).utcoffset() == before:
        return None
    while end - moment > timedelta(seconds=1):
        middle = moment + (end - moment) / 2
        if middle.astimezone(clock).utcoffset() == before:
            moment = middle
        else:
            end = middle
    return end.replace(microsecond=0)


@lru_cache(1024)
def _clocks(zones: Zones) -> tuple[ZoneInfo, ...]:
    """The zones that this machine knows."""
    clocks = []
    for zone in zones:
        try:
            clocks.append(ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError):
            continue
    return tuple(clocks) or (ZoneInfo("UTC"),)
