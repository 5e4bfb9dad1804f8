"""Times that tests send, always relative to now, so that no test expires; and how tests pass time."""

import time
from datetime import UTC, datetime, timedelta
from types import ModuleType, SimpleNamespace
from typing import Literal

import pytest


class Clock:
    """Seconds that only a test moves on."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def ahead(by: timedelta = timedelta(days=1)) -> str:
    """A time so far ahead of now, as the API reads and writes it: RFC 3339, UTC, to the second."""
    return (datetime.now(UTC) + by).strftime("%Y-%m-%dT%H:%M:%SZ")


def pass_time(monkeypatch: pytest.MonkeyPatch, module: ModuleType, seconds: float) -> None:
    """Move the monotonic clock of a module, which uses nothing else of `time`, forward."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + seconds))


def leave_end_of(unit: Literal["day", "week"]) -> None:
    """Wait for the next day or week, in UTC, if it begins within two minutes: the test counts by them."""
    while (left := _left_of(unit, datetime.now(UTC))) < timedelta(minutes=2):
        time.sleep(left.total_seconds())


def _left_of(unit: Literal["day", "week"], now: datetime) -> timedelta:
    days = 1 if unit == "day" else 7 - now.weekday()
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days) - now
