"""What a process says while it does not reach Redis."""

import logging
import threading
from types import SimpleNamespace

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from shared import periodic
from tests.harness.logs import logged

THREAD = "a job without Redis"


class Failures:
    """The servers that the thread did not reach: threads of other tests may still look for theirs."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def labels(self, server: str) -> SimpleNamespace:
        """The counter of a server's failures."""
        return SimpleNamespace(inc=lambda: self.counted.append(server) if is_ours() else None)


def is_ours() -> bool:
    return threading.current_thread().name == THREAD


def test_an_outage_is_logged_once_and_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures, stop, calls = Failures(), threading.Event(), 0
    monkeypatch.setattr(periodic, "CONNECTION_FAILURES", failures)
    monkeypatch.setattr(periodic, "REDIS_RETRY_SECONDS", 0.0)

    def job() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            stop.set()
        raise RedisConnectionError("no answer")

    periodic.repeat(job, 0.0, THREAD, stop, outage="Redis is away").join(60)
    assert failures.counted == ["redis"] * 3
    [record] = logged(caplog, THREAD)
    assert (record.message, record.levelno) == ("Redis is away: no answer", logging.WARNING)
