"""What is tolerated of a database that is away."""

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled
from sqlalchemy.exc import OperationalError

import shared.db.connection
from bulksms.local.ports import LOOPBACK, free_port
from shared.db.connection import make_engine
from tests.harness.logs import logged
from worker.outages import Outage

UNAVAILABLE = OperationalError("SELECT 1", None, Exception("no answer"))


def test_an_outage_and_its_end_are_logged_once_each(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    outage = Outage()
    for _ in range(3):
        with outage.tolerated():
            raise UNAVAILABLE
    for _ in range(3):
        with outage.tolerated():
            pass
    assert [record.levelname for record in logged(caplog)] == ["WARNING", "INFO"]


def test_an_outage_is_recent_until_some_time_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1.0)
    monkeypatch.setattr("worker.outages.time", clock)
    outage = Outage()
    assert not outage.is_recent(15)
    with outage.tolerated():
        raise UNAVAILABLE
    clock.monotonic = lambda: 100.0
    assert outage.is_recent(15)
    with outage.tolerated():
        assert outage.is_recent(15), "this may fail, too"
    clock.monotonic = lambda: 114.9
    assert outage.is_recent(15)
    with outage.tolerated():
        pass
    clock.monotonic = lambda: 115.1
    assert not outage.is_recent(15)


def test_a_cycle_that_fails_is_logged_and_an_outage_once(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage()
    for error in (UNAVAILABLE, UNAVAILABLE, ZeroDivisionError("a cycle")):
        with outage.tolerated_in_cycle():
            raise error
    assert [(record.levelname, record.exc_info is not None) for record in logged(caplog)] == [
        ("WARNING", False),
        ("ERROR", True),
    ]


def test_a_statement_that_was_given_up_is_no_outage(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged as what it is, and recovery does not wait for workers that could not renew their leases."""
    outage = Outage()
    for error in (LockNotAvailable(), DeadlockDetected(), QueryCanceled()):
        with outage.tolerated():
            raise OperationalError("SELECT 1", None, error)
        assert not outage.is_recent(15)
    assert len(logged(caplog)) == 3
    assert all("aborted a statement" in record.message for record in logged(caplog))


def test_other_errors_are_raised() -> None:
    with pytest.raises(ValueError, match="wrong"), Outage().tolerated():
        raise ValueError("wrong")


TASKS_DURING_AN_OUTAGE = """
import worker.app
from psycopg import OperationalError
from shared.task_queue import SEND_BATCH

outage = worker.app.process.sweeper.outage
with outage.tolerated():
    raise OperationalError("no answer")
worker.app.sending._is_one_waiting = True
worker.app.app.tasks[SEND_BATCH]("a batch")
assert outage.is_recent(0), "a batch"
worker.app.sending._is_one_waiting = False
worker.app.app.tasks[SEND_BATCH]("a batch")
assert outage.is_recent(0), "a batch that was looked for"
"""
"""The first task leaves its work to another thread. The second one fails."""


def test_tasks_that_leave_their_work_to_others_end_no_outage() -> None:
    env = os.environ | {
        "DATABASE_URL": f"postgresql://bulksms@{LOOPBACK}:{free_port()}/x",
        "REDIS_URL": f"redis://{LOOPBACK}:{free_port()}/0",
        "SECRET_KEY": "x" * 32,
        "CARRIER": "simulator",
        "PYTHONPATH": str(Path.cwd()),
    }
    command = [sys.executable, "-c", TASKS_DURING_AN_OUTAGE]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr


class Failures(threading.local):
    """Those of each thread: threads of other tests may still look for their server."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def labels(self, server: str) -> SimpleNamespace:
        """The counter of a server's failures."""
        return SimpleNamespace(inc=lambda: self.counted.append(server))


def test_a_server_that_cannot_be_reached_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = Failures()
    monkeypatch.setattr(shared.db.connection, "CONNECTION_FAILURES", failures)
    engine = make_engine(f"postgresql+psycopg://bulksms@{LOOPBACK}:{free_port()}/bulksms")
    with pytest.raises(OperationalError):
        engine.connect()
    assert failures.counted == ["postgres"]
