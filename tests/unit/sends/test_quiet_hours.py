"""Quiet hours by the recipient's clock: over midnight, over the change of the clocks, and far from here."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.sends.quiet_hours import next_allowed, zones_of

NIGHT = (21 * 60, 8 * 60)
ZONES = [
    "Africa/Nairobi",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
]
minutes = st.integers(0, 24 * 60 - 1)
moments = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


def is_quiet(zone: str, quiet: tuple[int, int], moment: datetime) -> bool:
    """Said another way than in the code: how long ago it began, against how long it lasts."""
    local = moment.astimezone(ZoneInfo(zone))
    return (local.hour * 60 + local.minute - quiet[0]) % 1440 < (quiet[1] - quiet[0]) % 1440


def test_it_works() -> None:
    evening = datetime(2026, 3, 2, 20, 30, tzinfo=UTC)  # 23:30 in Nairobi
    assert zones_of("254711000000") == ("Africa/Nairobi",)
    assert next_allowed(("Africa/Nairobi",), NIGHT, evening) == datetime(2026, 3, 3, 5, tzinfo=UTC)
    noon = datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert next_allowed(("Africa/Nairobi",), NIGHT, noon) == noon


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (datetime(2026, 3, 28, 22, tzinfo=UTC), datetime(2026, 3, 29, 6, tzinfo=UTC)),  # clocks go forward that night
        (datetime(2026, 3, 27, 22, tzinfo=UTC), datetime(2026, 3, 28, 7, tzinfo=UTC)),
        (datetime(2026, 10, 24, 22, tzinfo=UTC), datetime(2026, 10, 25, 7, tzinfo=UTC)),  # and back in this one
    ],
)
def test_eight_in_the_morning_is_eight_by_the_clock_on_the_wall(now: datetime, then: datetime) -> None:
    assert next_allowed(("Europe/Berlin",), NIGHT, now) == then


@pytest.mark.parametrize(
    ("zone", "quiet", "now", "then"),
    [
        # 02:30 is skipped: at 03:00 messages may be sent, until 03:13 and all day
        (
            "America/Denver",
            (193, 150),
            datetime(2027, 3, 14, 0, 41, 48, tzinfo=UTC),
            datetime(2027, 3, 14, 9, tzinfo=UTC),
        ),
        (
            "Atlantic/Bermuda",
            (613, 150),
            datetime(2027, 3, 14, 2, 11, tzinfo=UTC),
            datetime(2027, 3, 14, 6, tzinfo=UTC),
        ),
        # and so is the whole time in which they may: they wait for the next day
        (
            "America/Denver",
            (180, 150),
            datetime(2027, 3, 14, 0, 41, tzinfo=UTC),
            datetime(2027, 3, 15, 8, 30, tzinfo=UTC),
        ),
        # a second 02:00 before 03:00
        (
            "Europe/Zagreb",
            (150, 180),
            datetime(2026, 10, 25, 0, 50, 49, tzinfo=UTC),
            datetime(2026, 10, 25, 1, tzinfo=UTC),
        ),
    ],
)
def test_an_end_around_the_change_of_the_clocks(
    zone: str, quiet: tuple[int, int], now: datetime, then: datetime
) -> None:
    assert next_allowed((zone,), quiet, now) == then


@given(st.lists(st.sampled_from(ZONES), min_size=1, max_size=1), minutes, minutes, moments)
def test_the_end_is_the_first_moment_that_is_not_quiet(zones: list[str], begins: int, ends: int, now: datetime) -> None:
    if begins == ends:
        return
    quiet = (begins, ends)
    then = next_allowed(tuple(zones), quiet, now)
    assert now <= then <= now + timedelta(hours=26)
    assert not is_quiet(zones[0], quiet, then)
    skipped = then.astimezone(ZoneInfo(zones[0])).utcoffset() != now.astimezone(ZoneInfo(zones[0])).utcoffset()
    last = then - timedelta(minutes=1)
    if then > now and not skipped and last >= now:
        assert is_quiet(zones[0], quiet, last)


@given(st.lists(st.sampled_from(ZONES[:4]), min_size=2, max_size=4, unique=True), moments)
def test_the_next_allowed_time_is_quiet_in_no_zone(zones: list[str], now: datetime) -> None:
    then = next_allowed(tuple(zones), (23 * 60, 5 * 60), now)
    assert not any(is_quiet(zone, (23 * 60, 5 * 60), then) for zone in zones)


def test_if_no_hour_suits_all_zones_the_middle_one_decides() -> None:
    zones = ("Pacific/Honolulu", "Europe/Berlin", "Asia/Tokyo")
    now = datetime(2026, 1, 15, 23, tzinfo=UTC)
    assert next_allowed(zones, NIGHT, now) == datetime(2026, 1, 16, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("phone", "zone"),
    [
        ("12125550100", "America/New_York"),
        ("13105550100", "America/Los_Angeles"),
        ("491701234567", "Europe/Berlin"),
        ("6821234567", "Pacific/Rarotonga"),
        ("-12345", "Etc/UTC"),
    ],
)
def test_zones_by_prefix(phone: str, zone: str) -> None:
    assert zones_of(phone) == (zone,)
