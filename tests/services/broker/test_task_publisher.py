"""Publishing tasks: each batch has one with its id, together they cost one command, and no broker delays a caller."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis import Redis

from bulksms.local.redis import RedisServer
from shared import task_publisher
from shared.settings import Settings
from shared.task_publisher import BUSY, MAX_WAITING, PAUSE_SECONDS, SINGLES_PER_TASK, TaskPublisher
from shared.task_queue import QUEUE, SEND_BATCH, make_celery
from tests.harness.house import house, wait_until
from tests.harness.servers import make_redis

pytestmark = pytest.mark.slow


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
def publisher(server: RedisServer, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> TaskPublisher:
    """One that does not give up a server that stands still for a while."""
    monkeypatch.setattr(task_publisher, "PUBLISH_SECONDS", 60.0)
    return TaskPublisher(make_celery(settings(server)), clock)


def settings(server: RedisServer) -> Settings:
    return Settings(database_url="x", redis_url=server.url, broker_url=server.url, secret_key="x" * 40)


def ids(count: int) -> list[UUID]:
    return [uuid4() for _ in range(count)]


def queued(server: RedisServer) -> int:
    with Redis.from_url(server.url) as client:
        return int(client.llen(QUEUE))


def tasks(server: RedisServer) -> list[dict[str, Any]]:
    """What is in the queue, the oldest first."""
    with Redis.from_url(server.url) as client:
        return [json.loads(entry) for entry in reversed(client.lrange(QUEUE, 0, -1))]


def arguments(task: dict[str, Any]) -> list[str]:
    assert task["properties"]["body_encoding"] == "base64"
    return list(json.loads(base64.b64decode(task["body"]))[0])


def listeners(server: RedisServer) -> int:
    """Clients that wait for a task."""
    with Redis.from_url(server.url) as client:
        return sum(each["cmd"] == "brpop" for each in client.client_list())


def test_each_batch_has_its_task_with_its_id(publisher: TaskPublisher, server: RedisServer) -> None:
    batches = ids(100)
    publisher.publish(batches)
    wait_until(lambda: queued(server) == 100, 60, "the tasks")
    found = tasks(server)
    assert [task["headers"]["id"] for task in found] == [str(batch) for batch in batches]
    assert [arguments(task) for task in found] == [[str(batch)] for batch in batches]
    assert {task["headers"]["task"] for task in found} == {SEND_BATCH}
    assert len({task["properties"]["delivery_tag"] for task in found}) == 100
    with Redis.from_url(server.url) as client:
        assert client.info("commandstats")["cmdstat_lpush"]["calls"] == 1, "they were published together"
        assert client.memory_usage(QUEUE, samples=0) < 100 * 1_100, "a task takes about 1 KB"


def test_a_task_is_written_as_celery_writes_it(publisher: TaskPublisher, server: RedisServer) -> None:
    """But for what is of no use here: whose reply is awaited, and which of Celery's clients it was."""
    batch = uuid4()
    app = make_celery(settings(server))
    app.send_task(SEND_BATCH, args=[str(batch)], task_id=str(batch), queue=QUEUE, retry=False, ignore_result=True)
    publisher.publish([batch])
    wait_until(lambda: queued(server) == 2, 60, "both tasks")
    celerys, ours = tasks(server)
    for task in (celerys, ours):
        del task["properties"]["delivery_tag"], task["properties"]["reply_to"], task["headers"]["origin"]
    assert ours == celerys


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        pytest.param(1, [1], id="one"),
        pytest.param(BUSY, [1] * BUSY, id="few have their own"),
        pytest.param(BUSY + 1, [BUSY + 1], id="many share one"),
        pytest.param(2 * SINGLES_PER_TASK + 1, [SINGLES_PER_TASK, SINGLES_PER_TASK, 1], id="its size is bounded"),
    ],
)
def test_single_sends_of_one_round_share_tasks(
    publisher: TaskPublisher, server: RedisServer, monkeypatch: pytest.MonkeyPatch, count: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(task_publisher, "ROUND_SECONDS", 2.0)
    publisher.publish(first := ids(1))
    wait_until(lambda: queued(server) == 1, 60, "the round before")
    singles = ids(count)
    publisher._singles.extend(singles[1:])  # of one round, however slow this test is
    publisher.publish_single(singles[0])
    wait_until(lambda: queued(server) == 1 + len(sizes), 60, "the tasks")
    alone, *found = tasks(server)
    assert arguments(alone) == [str(first[0])]
    assert [len(arguments(task)) for task in found] == sizes
    assert {name for task in found for name in arguments(task)} == {str(single) for single in singles}
    assert all(task["headers"]["id"] == arguments(task)[0] for task in found)
    with Redis.from_url(server.url) as client:
        assert max(len(entry) for entry in client.lrange(QUEUE, 0, -1)) < 16_384


def test_a_broker_that_is_away_pauses_the_publishing(
    publisher: TaskPublisher, server: RedisServer, clock: Clock
) -> None:
    publisher.publish(ids(1))
    wait_until(lambda: queued(server) == 1, 60, "the first task")
    server.kill()
    publisher.publish(ids(100))
    wait_until(lambda: publisher.paused, 60, "the pause")
    server.start()
    publisher.publish(ids(100))
    assert not publisher._tasks
    clock.now += PAUSE_SECONDS
    assert not publisher.paused
    publisher.publish(ids(3))
    wait_until(lambda: queued(server) == 3, 60, "the tasks after the pause")


def test_a_broker_that_does_not_answer_delays_nobody(
    publisher: TaskPublisher, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_publisher, "PUBLISH_SECONDS", 0.3)
    with Redis.from_url(server.url) as client:
        client.client_pause(3_600_000)
        began = time.monotonic()
        for _ in range(50):
            publisher.publish(ids(100))
            publisher.publish_single(uuid4())
        wait_until(lambda: publisher.paused, 60, "the pause")
        for _ in range(50):
            publisher.publish(ids(100))
        assert time.monotonic() - began < 3_600 / 10, "the broker is silent for an hour: nobody waited for it"
    server.kill()


def test_the_number_of_unpublished_tasks_is_bounded(publisher: TaskPublisher, monkeypatch: pytest.MonkeyPatch) -> None:
    published = threading.Event()
    monkeypatch.setattr(publisher, "_publish", lambda tasks: published.wait(600))
    for _ in range(3):
        publisher.publish(ids(MAX_WAITING // 2))
    for single in ids(MAX_WAITING + 10):
        publisher.publish_single(single)
    assert len(publisher._tasks) <= MAX_WAITING
    assert len(publisher._singles) == MAX_WAITING
    published.set()


def test_workers_take_task_after_task(tmp_path: Path) -> None:
    """Also when they have connected anew. Celery's loop by itself would sleep for a second or two after a few."""
    count = 240
    with house(tmp_path, workers=1) as made:
        for _ in range(2):
            wait_until(lambda: listeners(made.redis), 60, "the worker's connection")
            publisher = TaskPublisher(make_celery(settings(made.redis)))
            publisher.publish(ids(count))
            wait_until(lambda: not publisher._tasks, 60, "the publishing")  # noqa: B023 - called before the next round
            wait_until(lambda: queued(made.redis) == 0, count / 4, "the worker")
            made.redis.kill()
            made.redis.start()
