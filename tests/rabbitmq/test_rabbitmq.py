"""Tasks over RabbitMQ, with classic and with quorum queues: `make rabbitmq`.

Where RabbitMQ is not installed these tests fail: they are run only when they are asked for.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bulksms.cli import main
from shared.audit.check import audit
from tests.faults.traffic import Traffic
from tests.harness.house import House, wait_until
from tests.rabbitmq.cluster import Cluster

pytestmark = pytest.mark.rabbitmq
WORKERS = 2


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("rabbitmq"), 3)
    try:
        yield made
    finally:
        made.stop()


def service_on(folder: Path, cluster: Cluster, **settings: str) -> House:
    made = House(folder, BROKER_URL=cluster.url, **settings)
    try:
        made.start(WORKERS)
        made.new_account()
    except BaseException:
        made.stop()
        raise
    return made


def queue(cluster: Cluster, node: int = 0) -> dict[str, object]:
    """The service's queue, as a node knows it."""
    output = cluster.nodes[node].control("list_queues", "name", "type", "consumers", "--formatter", "json")
    return next((dict(each) for each in json.loads(output) if each["name"] == "sends"), {})


def finding(service: House) -> str:
    output = CliRunner().invoke(main, ["doctor", "--json"], env=service.env).stdout
    return str(next(each["outcome"] for each in json.loads(output) if each["name"] == "broker"))


def test_it_works(tmp_path: Path, cluster: Cluster) -> None:
    service = service_on(tmp_path, cluster)
    try:
        wait_until(lambda: queue(cluster).get("consumers") == WORKERS, 30, "the consumers")
        assert queue(cluster)["type"] != "quorum"
        phones = [str(254_711_000_000 + number) for number in range(3_000)]
        send = service.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"]
        service.wait_for_end()
        assert service.get(f"/sends/{send}")["counts"]["delivered"] == 3_000
        assert service.most_submits() == 1
        assert finding(service) == "ok"
    finally:
        service.stop()
        cluster.nodes[0].control("delete_queue", "sends")


def test_a_quorum_queue_outlives_its_node(tmp_path: Path, cluster: Cluster) -> None:
    service = service_on(tmp_path, cluster, BROKER_QUEUE_TYPE="quorum")
    try:
        wait_until(lambda: queue(cluster).get("consumers") == WORKERS, 30, "the consumers")
        assert queue(cluster)["type"] == "quorum"
        traffic = Traffic(service, 254_711_000_000, "failover")
        traffic.start()
        try:
            wait_until(lambda: len(traffic.wanted) > 10, 30, "the first requests")
            cluster.nodes[0].kill()
            tried = len(traffic.wanted)
            wait_until(lambda: len(traffic.wanted) > tried + 40, 60, "requests without the node")
        finally:
            traffic.stop()
        assert [wanted.tries[0].status for wanted in traffic.wanted] == [200] * len(traffic.wanted)
        wait_until(lambda: queue(cluster, 1).get("consumers") == WORKERS, 60, "the consumers at other nodes")
        assert finding(service) == "ok"
        service.wait_for_end()
        assert service.most_submits() == 1
        assert audit(service.engine, full=True) == []
    finally:
        service.stop()
