"""What a process says while it does not reach Redis."""

import logging
import threading

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from shared import periodic
from shared.observability.metrics import PROCESS


def failures() -> float:
    return PROCESS.get_sample_value("bulksms_connection_failures_total", {"server": "redis"}) or 0.0


def test_an_outage_is_logged_once_and_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(periodic, "REDIS_RETRY_SECONDS", 0.0)
    before, stop, calls = failures(), threading.Event(), 0

    def job() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            stop.set()
        raise RedisConnectionError("no answer")

    periodic.repeat_with_redis(job, 0.0, "test", "Redis is away", stop).join(30)
    assert failures() == before + 3
    assert [record.message for record in caplog.records] == ["Redis is away: no answer"]
    assert caplog.records[0].levelno == logging.WARNING
