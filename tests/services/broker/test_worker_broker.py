"""Nothing that the broker does or says ends a worker, and nobody but its operator shuts it down."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
from redis import Redis

from bulksms.local import services
from shared.settings import Settings
from shared.task_queue import QUEUE, SEND_BATCH, make_celery
from tests.harness.house import STEADY, House, a_house, wait_until

pytestmark = pytest.mark.slow
SETTINGS = {"CELERY_REMOTE_CONTROL": "1", "SIMULATOR_RATE": "1000", **STEADY}
GARBAGE = (
    "x",
    "\0",
    "{}",
    "[1]",
    '"text"',
    "[" * 50_000,
    '{"body": 1}',
    '{"body": "!", "headers": {}, "properties": {}}',
    json.dumps({"body": "W10=", "headers": {}, "properties": {"delivery_tag": "1", "delivery_info": {}}}),
)


service = a_house(workers=1, **SETTINGS)


@pytest.fixture
def redis(service: House) -> Iterator[Redis]:
    with Redis.from_url(service.redis.url) as client:
        yield client


def listens(service: House, redis: Redis) -> bool:
    """Whether the worker has taken everything from the queue, and waits for more."""
    assert service.workers[0].exit_code() is None, "the worker has ended"
    return not redis.llen(QUEUE) and any(peer["cmd"] == "brpop" for peer in redis.client_list())


def check(service: House, redis: Redis) -> None:
    """The worker lives, sends, and hears the broker again."""
    service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hello")
    service.wait_for_end()
    make_celery(Settings(database_url="x", redis_url="x", broker_url=service.redis.url, secret_key="x")).send_task(
        SEND_BATCH, args=[str(uuid4())], queue=QUEUE, retry=False
    )
    wait_until(lambda: listens(service, redis), 60, "a worker that listens")


@pytest.mark.parametrize(
    ("breaks", "mends"),
    [
        pytest.param(["CONFIG SET maxmemory 1"], ["CONFIG SET maxmemory 0"], id="out of memory"),
        pytest.param(["REPLICAOF 127.0.0.1 1"], ["REPLICAOF NO ONE"], id="read-only"),
        pytest.param(["BGSAVE"], ["CONFIG SET stop-writes-on-bgsave-error no"], id="refuses writes"),
    ],
)
def test_redis_that_answers_with_errors(service: House, redis: Redis, breaks: list[str], mends: list[str]) -> None:
    # A folder where its file belongs: every save fails. The path itself cannot be set while it runs.
    in_the_way = service.redis.folder / "dump.rdb"
    in_the_way.mkdir()
    redis.config_set("save", "3600 1000000")
    # The broker begins to fail while tasks are on their way and under way.
    service.post("/sms/send-bulk", sender_id="ACME", phones=phones(3_000), message="Hello")
    for command in breaks:
        redis.execute_command(*command.split())  # type: ignore[no-untyped-call]
    for _ in range(20):
        service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hello")
        time.sleep(0.1)
    assert service.workers[0].exit_code() is None
    for command in mends:
        redis.execute_command(*command.split())  # type: ignore[no-untyped-call]
    in_the_way.rmdir()
    check(service, redis)


def test_entries_of_the_queue_that_are_no_tasks(service: House, redis: Redis) -> None:
    for garbage in GARBAGE:
        redis.lpush(QUEUE, garbage)
    wait_until(lambda: listens(service, redis), 60, "a worker that listens")
    check(service, redis)
    assert "a queue entry may have been dropped" in service.workers[0].log_file.read_text()


def test_remote_control_stops_the_sending_as_sigterm_does(service: House) -> None:
    send = service.post("/sms/send-bulk", sender_id="ACME", phones=phones(50_000), message="Hello")["send_id"]
    wait_until(lambda: service.get(f"/sends/{send}")["counts"]["queued"] < 50_000, 60, "the sending")
    celery = make_celery(Settings(database_url="x", redis_url="x", broker_url=service.redis.url, secret_key="x"))
    celery.control.shutdown()
    wait_until(lambda: service.workers[0].exit_code() is not None, 60, "the worker's end")
    assert service.scalar("SELECT count(*) FROM batch WHERE state = 'queued'"), "it ended before all was sent"
    assert not service.scalar("SELECT count(*) FROM doubt")
    service.workers.clear()
    service.post(f"/sends/{send}/cancel")
    service.start_workers(1)
    service.wait_for_end(120)


def phones(count: int) -> list[str]:
    return [str(254_711_000_000 + number) for number in range(count)]


def test_celerys_default_pool_is_that_of_threads(service: House) -> None:
    worker = services.worker(9, service.env, service.folder, Path.cwd())
    worker.command[worker.command.index("threads")] = "prefork"
    worker.launch()
    service.workers.append(worker)
    wait_until(lambda: " ready." in worker.log_file.read_text(), 60, "the worker")
    assert worker.pid is not None
    assert psutil.Process(worker.pid).children() == []
