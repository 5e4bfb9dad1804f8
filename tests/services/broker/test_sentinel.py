"""Redis behind Sentinel: when the primary is lost, the processes find the promoted replica by themselves."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from redis import Redis

from bulksms.cli import main
from shared.audit.check import audit
from shared.redis_client import redis_client
from tests.faults.traffic import Traffic
from tests.harness.house import STEADY, House, house, wait_until
from tests.harness.sentinel import Watched

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    made = Watched(tmp_path_factory.mktemp("redis"))
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def service(tmp_path: Path, watched: Watched) -> Iterator[House]:
    with house(tmp_path, 2, REDIS_URL=watched.url, BROKER_URL=watched.url, **STEADY) as made:
        made.new_account()
        yield made


def consumers(client: "Redis") -> int:
    """Workers that wait for tasks."""
    return sum(each["cmd"] == "brpop" for each in client.client_list())


def test_it_works(service: House, watched: Watched) -> None:
    """Sends go on without Redis; what is shared by it is shared again after the promotion."""
    client = redis_client(watched.url, timeout=30)
    wait_until(lambda: consumers(client) == 2, 60, "the consumers at the primary")
    traffic = Traffic(service, 254_711_000_000, "failover")
    traffic.start()
    try:
        wait_until(lambda: len(traffic.wanted) > 10, 60, "the first requests")
        watched.fail_over()
        tried = len(traffic.wanted)
        wait_until(lambda: len(traffic.wanted) > tried + 20, 60, "requests after the promotion")
    finally:
        traffic.stop()
    assert [wanted.tries[0].status for wanted in traffic.wanted] == [200] * len(traffic.wanted)
    wait_until(lambda: consumers(client) == 2, 60, "the consumers at the promoted replica")
    with Redis.from_url(watched.replica.url) as promoted:
        wait_until(lambda: consumers(promoted) == 2, 60, "the same by its address")
        wait_until(promoted.dbsize, 60, "what the processes share")
    service.wait_for_end()
    assert service.most_submits() == 1
    assert audit(service.engine, full=True) == []
    output = CliRunner().invoke(main, ["doctor", "--json"], env=service.env).stdout
    findings = {each["name"]: each["outcome"] for each in json.loads(output)}
    assert findings["redis"] == "ok"
    client.close()
