"""What looks like pumping, and what does not."""

import random
from types import SimpleNamespace

import pytest

from api.limits import pumping_guard as pumping
from api.limits.pumping_guard import WINDOW, PumpingFinding, PumpingGuard
from tests.harness.times import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pumping, "time", SimpleNamespace(monotonic=made))
    return made


def record(guard: PumpingGuard, phones: object, account: int = 1) -> list[PumpingFinding]:
    """Findings of phones, given as numbers."""
    found = [guard.record(account, str(phone)) for phone in phones]  # type: ignore[attr-defined]
    return [finding for finding in found if finding is not None]


def scattered(count: int, seed: int = 1, area: int = 254_711) -> list[int]:
    """Different phones of one area, in no order."""
    return random.Random(seed).sample(range(area * 10**6, (area + 1) * 10**6), count)


def test_it_works(clock: Clock) -> None:
    found = record(PumpingGuard(), range(254_711_000_000, 254_711_000_500))
    assert found[0] == PumpingFinding("block", "254711000", 11, 10, True)
    assert len(found) == 490
    assert not any(finding.first for finding in found[1:])


def test_phones_scattered_over_an_area_are_not_suspicious(clock: Clock) -> None:
    """As many as there are customers: some blocks have more of them by chance."""
    for count in (50, 1_000, 20_000):
        assert record(PumpingGuard(), scattered(count)) == []


def test_each_account_is_judged_by_itself(clock: Clock) -> None:
    guard = PumpingGuard()
    for account in range(50):
        assert record(guard, range(254_711_000_000, 254_711_000_010), account) == []


def test_a_refused_phone_is_allowed_again_after_the_window(clock: Clock) -> None:
    guard = PumpingGuard()
    assert len(record(guard, range(254_711_000_000, 254_711_000_012))) == 2
    clock.now += WINDOW
    assert record(guard, [254_711_000_005]) == []


def test_a_burst_is_recognized_by_the_hour_before(clock: Clock) -> None:
    guard = PumpingGuard()
    for window in range(7):
        assert record(guard, scattered(30, window)) == []
        clock.now += WINDOW
    found = record(guard, scattered(400, 99))
    assert found[0] == PumpingFinding("burst", "254711", 301, 300, True)
    assert len(found) == 100


def test_memory_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pumping, "MAX_AREAS", 10)
    monkeypatch.setattr(pumping, "MAX_PHONES", 20)
    guard = PumpingGuard()
    for area in range(100_000, 100_100):
        record(guard, scattered(50, area=area))
    assert len(guard._areas) == 10
    assert all(len(area.phones) == 20 for area in guard._areas.values())


def test_codes_that_nobody_enters_are_unusual(clock: Clock) -> None:
    guard = PumpingGuard()
    assert guard.wants_approvals(1)
    guard.learn_approvals(1, {"254711": (20, 1), "254722": (20, 2), "254733": (19, 0)})
    assert not guard.wants_approvals(1)
    assert guard.record(1, "254711000001") == PumpingFinding("unused", "254711", 19, 18, True)
    assert [guard.record(1, phone) for phone in ("254722000001", "254733000001", "254744000001")] == [None] * 3
    assert guard.record(2, "254711000001") is None
    clock.now += 61
    assert guard.wants_approvals(1)
