"""The doorbell: it delays and fails nobody, whatever the broker does."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis

from bulksms.local.redis import RedisServer
from shared.settings import Settings
from shared.task_queue import AT_ONCE, BUSY_SECONDS, QUEUE, REST_SECONDS, Doorbell, make_celery
from tests.services.house import house, wait_until
from tests.services.servers import make_redis


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with make_redis(tmp_path) as redis:
        redis.start()
        yield redis


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def doorbell(server: RedisServer, clock: Clock) -> Doorbell:
    settings = Settings(database_url="x", redis_url=server.url, broker_url=server.url, secret_key="x" * 40)
    return Doorbell(make_celery(settings), clock)


def waiting(server: RedisServer) -> int:
    with Redis.from_url(server.url) as client:
        return int(client.llen(QUEUE))


def listeners(server: RedisServer) -> int:
    """Clients that wait for a doorbell."""
    with Redis.from_url(server.url) as client:
        return sum(each["cmd"] == "brpop" for each in client.client_list())


def ring(doorbell: Doorbell, times: int = 1) -> float:
    """Ring, and return the seconds that it took."""
    began = time.monotonic()
    doorbell.ring([uuid4() for _ in range(times)])
    return time.monotonic() - began


def test_it_works(doorbell: Doorbell, server: RedisServer) -> None:
    ring(doorbell, 3)
    wait_until(lambda: waiting(server) == 3, 10, "the doorbells")


def test_a_broker_that_is_away_opens_the_breaker_for_a_while(
    doorbell: Doorbell, server: RedisServer, clock: Clock
) -> None:
    ring(doorbell)
    wait_until(lambda: waiting(server) == 1, 10, "the first doorbell")
    server.kill()
    ring(doorbell)
    wait_until(lambda: doorbell.resting, 10, "the breaker")
    server.start()
    ring(doorbell)
    assert not doorbell._waiting
    clock.now += REST_SECONDS
    assert not doorbell.resting
    ring(doorbell)
    wait_until(lambda: waiting(server) == 1, 10, "the doorbell after the rest")


def test_a_broker_that_does_not_answer_delays_nobody(doorbell: Doorbell, server: RedisServer) -> None:
    with Redis.from_url(server.url) as client:
        client.client_pause(3_600_000)
        took = [ring(doorbell, 10) for _ in range(50)]
        assert sum(took) < 3_600 / 10, "the pause is an hour: nobody waited for its end"
        wait_until(lambda: doorbell.resting, 20, "the breaker")
        took += [ring(doorbell) for _ in range(50)]
        assert sum(took) < 3_600 / 10
    server.kill()


def test_what_waits_to_be_published_is_bounded(doorbell: Doorbell, monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    monkeypatch.setattr(doorbell, "_publish", lambda batch: told.wait(30))
    for _ in range(50):
        ring(doorbell, 10)
    assert len(doorbell._waiting) <= AT_ONCE
    told.set()


def test_many_callers_ring_less_often_than_few(doorbell: Doorbell, server: RedisServer) -> None:
    """Workers that find something look again by themselves, and the last caller is heard too."""
    began = time.monotonic()
    while time.monotonic() < began + 4 * BUSY_SECONDS:
        ring(doorbell)
        time.sleep(0.001)
    time.sleep(2 * BUSY_SECONDS)
    assert 2 <= waiting(server) <= 2 + (time.monotonic() - began) / BUSY_SECONDS
    assert not doorbell._waiting


def test_a_worker_hears_one_doorbell_after_the_other(tmp_path: Path) -> None:
    """Also when it has connected anew. Celery's loop by itself would sleep for a second or two after each four."""
    with house(tmp_path, workers=1) as made:
        url = made.redis.url
        celery = make_celery(Settings(database_url="x", redis_url=url, broker_url=url, secret_key="x" * 40))
        for _ in range(2):
            wait_until(lambda: listeners(made.redis), 60, "the worker's connection")
            bell = Doorbell(celery)
            began = time.monotonic()
            ring(bell, AT_ONCE)
            wait_until(lambda: not bell._waiting, 10, "the publishing")  # noqa: B023 - called before the next round
            wait_until(lambda: waiting(made.redis) == 0, 60, "the worker")
            assert time.monotonic() - began < AT_ONCE / 4 / 2
            made.redis.kill()
            made.redis.start()
