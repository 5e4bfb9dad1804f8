"""Metrics of API, workers and webhooks as processes of their own: they add up, and outlive the processes."""

import os
import signal
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import psutil
import pytest

from bulksms.local.ports import free_port
from tests.harness.fetch import fetch
from tests.harness.house import STEADY, House, house, wait_until

pytestmark = pytest.mark.slow

TOKEN = "monitoring-token"
SENT = 'bulksms_messages_total{carrier="simulator",category="transactional",country="KE",status="sent"}'
SENDS = 'bulksms_http_requests_total{endpoint="POST /api/v1/sms/send",status="200"}'


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("house")
    metrics = {"METRICS_TOKEN": TOKEN, "METRICS_PORT": str(port), "PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics")}
    with house(folder, api_processes=2, **metrics, **STEADY) as made:
        made.new_account()
        made.start_webhooks()
        yield made


def scrape(port: int) -> dict[str, float]:
    response = fetch(port, "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status == HTTPStatus.OK
    lines = [line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def test_processes_of_a_host_add_up_wherever_they_are_scraped(service: House, port: int) -> None:
    for number in range(40):
        service.post("/sms/send", sender_id="ACME", phone=str(254711000000 + number), message="Hi")
    service.try_request("POST", "/sms/send", {"phone": "?"})
    service.try_request("GET", "/nowhere")
    expected = {
        SENDS: 40,
        SENT: 40,
        'bulksms_http_request_duration_seconds_count{endpoint="POST /api/v1/sms/send"}': 41,
        'bulksms_http_requests_total{endpoint="POST /api/v1/sms/send",status="400"}': 1,
        'bulksms_http_requests_total{endpoint="",status="404"}': 1,
        'bulksms_submit_delay_seconds_count{category="transactional"}': 40,
        "bulksms_commit_sends_sum": 40,
    }
    wait_until(lambda: expected.items() <= scrape(service.port).items(), 60, "everything in the metrics")
    for _ in range(8):  # of two API processes, and of a worker or the webhooks
        for lines in (scrape(service.port), scrape(port)):
            assert {name: lines[name] for name in expected} == expected
    assert "bulksms_credits_available" in scrape(service.port)
    assert "bulksms_credits_available" not in scrape(port)


def test_another_process_serves_the_port_when_the_first_is_killed(service: House, port: int) -> None:
    before = scrape(port)[SENT]
    [first] = {
        each.pid
        for each in psutil.net_connections("tcp")
        if each.laddr and each.laddr.port == port and each.status == psutil.CONN_LISTEN
    }
    assert first is not None
    os.kill(first, signal.SIGKILL)

    def served() -> bool:
        try:
            return scrape(port)[SENT] == before
        except OSError:
            return False

    wait_until(served, 60, "another process on the port")


def test_the_port_is_not_public(service: House, port: int) -> None:
    for token, path in (("guessed", "/metrics"), ("", "/metrics"), (TOKEN, "/")):
        assert fetch(port, path, headers={"Authorization": f"Bearer {token}"}).status == HTTPStatus.NOT_FOUND
