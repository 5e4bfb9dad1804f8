"""Noticing a consumer that has stalled, and saying once that the database is away."""

from collections.abc import Callable

import fakeredis
import pytest
from kombu import Connection
from redis.exceptions import ConnectionError

from shared.task_queue import QUEUE
from worker.broker.consumer_watchdog import STALL_SECONDS, ConsumerWatchdog


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
def reconnected() -> list[None]:
    """An entry for each time that the consumer had to connect again."""
    return []


@pytest.fixture
def reconnect(reconnected: list[None]) -> Callable[[], object]:
    return lambda: reconnected.append(None)


@pytest.fixture
def watchdog(broker: fakeredis.FakeRedis, clock: Clock, reconnect: Callable[[], object]) -> ConsumerWatchdog:
    return ConsumerWatchdog(broker, reconnect, clock)


def later(clock: Clock, watchdog: ConsumerWatchdog, seconds: float = STALL_SECONDS) -> bool:
    clock.now += seconds
    return watchdog.check()


@pytest.mark.parametrize(("unacknowledged", "reconnects"), [(1, False), (2, True)])
def test_a_consumer_whose_acknowledgements_were_lost_with_the_broker(
    watchdog: ConsumerWatchdog, clock: Clock, unacknowledged: int, reconnects: bool
) -> None:
    channel = Connection("memory://").channel()
    channel.qos.prefetch_count, channel.qos.restore_at_shutdown = 2, False
    for tag in range(unacknowledged):
        channel.qos.append(None, tag)
    watchdog.watch(channel)
    assert not watchdog.check()
    with watchdog.at_work():
        assert not later(clock, watchdog)
    assert not watchdog.check()
    assert later(clock, watchdog) is reconnects


def test_it_works(
    watchdog: ConsumerWatchdog, broker: fakeredis.FakeRedis, clock: Clock, reconnected: list[None]
) -> None:
    broker.lpush(QUEUE, "a task")
    assert not watchdog.check()
    assert not later(clock, watchdog, STALL_SECONDS - 1)
    assert later(clock, watchdog, 1)
    assert len(reconnected) == 1


def test_the_consumer_has_time_to_connect_before_the_next_attempt(
    watchdog: ConsumerWatchdog, broker: fakeredis.FakeRedis, clock: Clock, reconnected: list[None]
) -> None:
    broker.lpush(QUEUE, "a task")
    watchdog.check()
    assert later(clock, watchdog)
    assert not later(clock, watchdog)
    assert not later(clock, watchdog, STALL_SECONDS - 1)
    assert later(clock, watchdog, 1)
    assert len(reconnected) == 2


def test_an_empty_queue_is_no_stall(watchdog: ConsumerWatchdog, broker: fakeredis.FakeRedis, clock: Clock) -> None:
    assert not watchdog.check()
    assert not later(clock, watchdog)
    broker.lpush(QUEUE, "a task")
    assert not later(clock, watchdog)
    broker.delete(QUEUE)
    assert not later(clock, watchdog)
    broker.lpush(QUEUE, "another")
    assert not later(clock, watchdog)


def test_a_broker_that_is_away_is_no_stall(
    broker: fakeredis.FakeRedis, clock: Clock, reconnect: Callable[[], object]
) -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    away = ConsumerWatchdog(fakeredis.FakeRedis(server=server), reconnect, clock)
    with pytest.raises(ConnectionError):
        fakeredis.FakeRedis(server=server).ping()
    assert not away.check()
    assert not later(clock, away)
    assert not later(clock, ConsumerWatchdog(None, reconnect, clock))
