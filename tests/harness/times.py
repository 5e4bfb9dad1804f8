"""Times that tests send: always relative to now, so that no test passes its date. And clocks that go on at once."""

import time
from datetime import UTC, datetime, timedelta
from types import ModuleType, SimpleNamespace

import pytest


def ahead(by: timedelta = timedelta(days=1)) -> str:
    """A time so far ahead of now, as the API reads and writes it: RFC 3339, UTC, to the second."""
    return (datetime.now(UTC) + by).strftime("%Y-%m-%dT%H:%M:%SZ")


def pass_time(monkeypatch: pytest.MonkeyPatch, module: ModuleType, seconds: float) -> None:
    """Let the monotonic clock of a module, which uses no other one, be so many seconds further on."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + seconds))


def leave_midnight(seconds: float = 120) -> None:
    """Wait for the next day, in UTC, if it begins within so many seconds: the test counts by days."""
    now = datetime.now(UTC)
    left = timedelta(days=1) - timedelta(hours=now.hour, minutes=now.minute, seconds=now.second)
    if left < timedelta(seconds=seconds):
        time.sleep(left.total_seconds())
