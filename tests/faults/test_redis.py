"""Faults of Redis: it carries tasks and tokens, and its loss changes no outcome."""

import contextlib
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from click.testing import CliRunner
from redis import Redis
from redis.exceptions import OutOfMemoryError

from bulksms.cli import main
from shared.settings import from_environment
from shared.task_queue import QUEUE, SEND_BATCH, make_celery
from tests.faults.ground import Fault
from tests.harness.house import STEADY, wait_until


@pytest.fixture
def redis(fault: Fault) -> Iterator[Redis]:
    """A client of its own, past the proxies."""
    with Redis.from_url(fault.house.redis.url) as client:
        yield client


def check_latency(fault: Fault) -> None:
    """95 of 100 sends took the API less than a broker's time-outs while Redis was broken."""
    assert fault.traffic.seconds(0.95) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("settings", [STEADY])
def test_killed_and_started_again(fault: Fault) -> None:
    with fault.workload():
        for _ in range(2):
            fault.house.redis.kill()
            time.sleep(1.5)
            fault.house.redis.start()
            time.sleep(0.5)
    fault.check()


def test_away_for_the_whole_run(fault: Fault) -> None:
    house = fault.house
    house.redis.kill()
    house.kill_worker()
    house.start_workers(1)
    with fault.workload():
        time.sleep(5)
    check_latency(fault)
    fault.check()
    house.redis.start()


def test_emptied(fault: Fault, redis: Redis) -> None:
    with fault.workload():
        for _ in range(40):
            redis.flushall()
            time.sleep(0.05)
    fault.check()


def test_out_of_memory(fault: Fault, redis: Redis) -> None:
    with fault.workload():
        redis.config_set("maxmemory", "1")
        time.sleep(5)
        check_latency(fault)
        redis.config_set("maxmemory", "0")
    fault.check()


def test_pauses_its_clients(fault: Fault, redis: Redis) -> None:
    with fault.workload():
        redis.client_pause(15_000)
        time.sleep(10)
        check_latency(fault)
        time.sleep(6)
    fault.check()


def test_half_open(fault: Fault, redis: Redis) -> None:
    house = fault.house
    with fault.workload():
        for process in ("api", "worker"):
            house.proxy(process, "redis").half_open()
        time.sleep(3)
    fault.check()
    for _ in range(10):
        redis.lpush("proof", 1)
    celery = make_celery(from_environment({**house.env, "BROKER_URL": house.redis.url}))
    for _ in range(20):
        celery.send_task(SEND_BATCH, args=[str(uuid4())], queue=QUEUE)
    wait_until(lambda: not redis.llen(QUEUE), 150, "a worker that listens")


def test_wrong_type_and_garbage(fault: Fault, redis: Redis) -> None:
    with fault.workload():
        redis.delete(QUEUE)
        redis.set(QUEUE, "x")
        time.sleep(3)
        redis.delete(QUEUE)
        for garbage in ("x", "{}", '{"body": 1}', "\0", '{"body": "!", "headers": {}, "properties": {}}'):
            redis.lpush(QUEUE, garbage)
        time.sleep(3)
        redis.delete(QUEUE)
    fault.check()


def test_evicts(fault: Fault, redis: Redis) -> None:
    house = fault.house
    with fault.workload():
        redis.config_set("maxmemory-policy", "allkeys-lru")
        used = int(redis.info("memory")["used_memory"])
        redis.config_set("maxmemory", str(used + 1_000_000))
        with contextlib.suppress(OutOfMemoryError):
            for number in range(5_000):
                redis.set(f"ballast-{number}", "x" * 1000)
        assert redis.info("stats")["evicted_keys"]
        found = CliRunner().invoke(main, ["doctor"], env=house.env)
        assert "maxmemory-policy is allkeys-lru" in found.output
        redis.config_set("maxmemory", "0")
        redis.config_set("maxmemory-policy", "noeviction")
    fault.check()


def test_an_old_snapshot(fault: Fault, redis: Redis) -> None:
    house = fault.house
    with fault.workload():
        redis.set("old", 1)
        redis.save()
        redis.set("new", 1)
        time.sleep(1)
        house.redis.kill()
        house.redis.start()
        assert redis.get("old") and not redis.get("new"), "it came up as it was at the snapshot"
    fault.check()
    (house.redis.folder / "dump.rdb").unlink()


def test_one_task_fifty_times(fault: Fault) -> None:
    house = fault.house
    celery = make_celery(from_environment(house.env))
    with fault.workload():
        batch = house.scalar("SELECT id FROM batch ORDER BY turn LIMIT 1")
        for _ in range(50):
            celery.send_task(SEND_BATCH, args=[str(batch)], queue=QUEUE)
    fault.check()
