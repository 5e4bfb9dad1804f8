"""What waits for the only carrier is shown as waiting for it."""

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from sqlalchemy import func, update

from api.metrics.counts import counts_of
from api.metrics.installation import InstallationCollector
from api.resources.sends.bottleneck import carriers_now
from shared.carriers.control import list_carriers, list_limits
from shared.db.tables.running import state_count
from shared.health.carriers import check_carriers
from shared.health.doctor import check_queue
from tests.harness.live_workers import report_carrier
from tests.harness.service import Service

Found = TypeVar("Found")
PHONES = [str(254711000000 + number) for number in range(3)]


@pytest.fixture
def waiting(service: Service) -> Iterator[Service]:
    """Three messages in the queue, which nobody takes, and no worker that reports."""
    service.worker.dispatcher.stop.set()
    service.execute("DELETE FROM carrier_report")
    service.bulk(PHONES)
    yield service
    service.execute("DELETE FROM carrier_report")
    service.execute("DELETE FROM carrier_limit")
    service.execute("UPDATE batch SET state = 'canceled' WHERE state = 'queued'")


def waits(service: Service) -> dict[tuple[str, str], float]:
    """Messages by what they wait for and carrier."""
    with service.engine.begin() as connection:
        connection.execute(update(state_count).values(due_at=func.now()))
        rows: list[dict[str, Any]] = counts_of(connection)["queue"]
    return {(row["state"], row["carrier"]): row["messages"] for row in rows}


@pytest.mark.parametrize("state", ["paused", "down", "open"])
def test_the_queue_awaits_the_only_carrier_while_it_is_closed(waiting: Service, state: str) -> None:
    report_carrier(waiting.engine, state="ready")
    assert waits(waiting) == {("queued", ""): 3}
    report_carrier(waiting.engine, state=state)
    assert waits(waiting) == {("awaiting_carrier", "main"): 3}


def test_messages_of_test_keys_await_no_carrier(waiting: Service) -> None:
    report_carrier(waiting.engine, state="paused")
    waiting.in_sandbox().bulk(PHONES)
    assert waits(waiting) == {("awaiting_carrier", "main"): 3, ("queued", ""): 3}


def test_the_doctor_names_the_paused_carrier_and_what_waits(waiting: Service) -> None:
    report_carrier(waiting.engine, state="paused")
    waiting.execute("INSERT INTO carrier_setting (name, paused) VALUES ('main', true)")
    try:
        (carrier,) = waiting.transact(lambda connection: list(check_carriers(connection)))
        queue = waiting.transact(check_queue)
    finally:
        waiting.execute("DELETE FROM carrier_setting")
    assert (carrier.name, carrier.outcome) == ("carrier main", "notice")
    assert carrier.detail.startswith("paused since ") and carrier.detail.endswith(", 3 messages wait")
    assert carrier.remedy == "bulksms carrier resume main"
    assert (queue.outcome, "3 messages in 1 batch for unavailable carriers (main)" in queue.detail) == ("notice", True)


def seen_carriers(service: Service) -> list[str]:
    return [row["carrier"] for row in service.transact(list_carriers)]


def seen_limits(service: Service) -> list[str]:
    return [row["limit"] for row in service.transact(list_limits)]


def limiting_carriers(service: Service) -> list[str]:
    return list(service.transact(carriers_now))


def measured_carriers(service: Service) -> list[str]:
    gauges = {gauge.name: gauge.samples for gauge in InstallationCollector(service.engine).collect()}
    return [sample.labels["carrier"] for sample in gauges["bulksms_carrier_rate"]]


def after(service: Service, seconds: int, read: Callable[[Service], Found]) -> Found:
    """What is read that many seconds after the last report, and at most three seconds later than that."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        begun = time.monotonic()
        for table in ("carrier_report", "carrier_limit"):
            service.execute(f"UPDATE {table} SET reported_at = clock_timestamp() - interval '{seconds} seconds'")
        found = read(service)
        if time.monotonic() - begun < 3:
            return found
    raise AssertionError("it was never read within three seconds")


@pytest.mark.parametrize(("seconds", "live"), [(1, True), (6, False)])
def test_what_a_worker_reported_more_than_five_seconds_ago_is_ignored(
    waiting: Service, seconds: int, live: bool
) -> None:
    report_carrier(waiting.engine, state="down")
    waiting.execute("INSERT INTO carrier_limit (name, rate, reported_at) VALUES ('sender ACME', 10, now())")
    for read in (seen_carriers, limiting_carriers, measured_carriers):
        assert after(waiting, seconds, read) == (["main"] if live else []), read
    assert after(waiting, seconds, seen_limits) == (["sender ACME"] if live else [])
    assert after(waiting, seconds, waits) == {("awaiting_carrier", "main") if live else ("queued", ""): 3}
