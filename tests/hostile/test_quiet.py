"""When the machine counts as quiet."""

import pytest

from tests.hostile import quiet


def test_it_waits_until_the_processors_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([(100, 0), (200, 10), (200, 10), (300, 105)])
    monkeypatch.setattr(quiet, "_processor_times", lambda: next(times))
    assert quiet.wait_for_quiet(60, watched=0) == pytest.approx(0.05)


def test_it_waits_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([(100, 0), (200, 10)])
    monkeypatch.setattr(quiet, "_processor_times", lambda: next(times))
    assert quiet.wait_for_quiet(0, watched=0) == pytest.approx(0.9)


def test_the_times_are_those_of_this_machine() -> None:
    total, idle = quiet._processor_times()
    assert 0 < idle < total
