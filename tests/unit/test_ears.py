"""Noticing a deaf worker, and saying once that the database is away."""

import logging
import threading

import fakeredis
import pytest
from redis.exceptions import ConnectionError
from sqlalchemy.exc import OperationalError

from shared.queue import QUEUE
from worker.ears import DEAF_SECONDS, Ears
from worker.quiet import Outage


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broker() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis()


@pytest.fixture
def ears(broker: fakeredis.FakeRedis, clock: Clock) -> Ears:
    return Ears(broker, clock=clock)


def later(clock: Clock, ears: Ears, seconds: float = DEAF_SECONDS) -> bool:
    clock.now += seconds
    return ears.deaf()


def test_it_works(ears: Ears, broker: fakeredis.FakeRedis, clock: Clock) -> None:
    broker.lpush(QUEUE, "a doorbell")
    assert not ears.deaf()
    assert not later(clock, ears, DEAF_SECONDS - 1)
    assert later(clock, ears, 1)


def test_an_empty_queue_is_heard(ears: Ears, broker: fakeredis.FakeRedis, clock: Clock) -> None:
    assert not ears.deaf()
    assert not later(clock, ears)
    broker.lpush(QUEUE, "a doorbell")
    assert not later(clock, ears)
    broker.delete(QUEUE)
    assert not later(clock, ears)
    broker.lpush(QUEUE, "another")
    assert not later(clock, ears)


def test_a_worker_at_work_is_not_deaf(ears: Ears, broker: fakeredis.FakeRedis, clock: Clock) -> None:
    broker.lpush(QUEUE, "a doorbell")
    ears.deaf()
    with ears.hearing():
        assert not later(clock, ears)
    assert not later(clock, ears), "it begins to count when the work is over"
    assert later(clock, ears)


def test_without_a_broker_nobody_hears(ears: Ears, broker: fakeredis.FakeRedis, clock: Clock) -> None:
    broker.lpush(QUEUE, "a doorbell")
    ears.deaf()
    server = fakeredis.FakeServer()
    server.connected = False
    away = Ears(fakeredis.FakeRedis(server=server), clock=clock)
    with pytest.raises(ConnectionError):
        fakeredis.FakeRedis(server=server).ping()
    assert not away.deaf()
    assert not later(clock, away)
    assert not later(clock, Ears(None, clock=clock))


def test_a_deaf_worker_is_told_once(broker: fakeredis.FakeRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.ears.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("worker.ears.DEAF_SECONDS", 0.05)
    broker.lpush(QUEUE, "a doorbell")
    told = threading.Semaphore(0)
    stop = threading.Event()
    Ears(broker, on_deaf=told.release).start(stop)
    assert told.acquire(timeout=30)
    assert not told.acquire(timeout=0.2)
    stop.set()


def test_an_outage_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage()
    caplog.set_level(logging.INFO)
    for _ in range(5):
        with outage.tolerated():
            raise OperationalError("SELECT", {}, Exception("server closed\nmore"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.records[0].getMessage().endswith(": server closed")
    for _ in range(3):
        with outage.tolerated():
            pass
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_what_is_no_outage_is_raised() -> None:
    with pytest.raises(ZeroDivisionError), Outage().tolerated():
        raise ZeroDivisionError
