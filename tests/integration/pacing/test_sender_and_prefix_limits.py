"""Rates of sender IDs and prefixes: what keeps to them, what need not wait for them, and where they are shown."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from shared.audit.check import audit
from tests.harness.live_workers import report_carriers
from tests.harness.service import Service
from worker.routing.carrier_pools import CarrierPools

FILE = """
[carrier.one]
kind = "simulator"
receipt_delay = 0

[[limits]]
sender = "ACME"
rate = 1000

[[limits]]
prefix = "2547"
rate = 500
"""
KENYA, ELSEWHERE = 254711000000, 255711000000


@pytest.fixture
def make(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Service]:
    """A service with these limits, whose carrier waits for its permits for up to an hour."""
    monkeypatch.setattr("worker.carriers.simulator.PATIENCE", 3600.0)

    def made() -> Service:
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM carrier_report"))
            connection.execute(text("DELETE FROM carrier_limit"))
        file = tmp_path / "carriers.toml"
        file.write_text(FILE)
        service = Service(engine, carriers_file=str(file))
        assert isinstance(service.worker.dispatcher, CarrierPools)
        report_carriers(service.worker)
        return service

    return made


def phones(first: int, count: int) -> list[str]:
    return [str(first + number) for number in range(count)]


def test_it_works(make: Callable[[], Service]) -> None:
    service = make()
    begun = time.monotonic()
    send = service.bulk(phones(KENYA, 300) + phones(ELSEWHERE, 300)).json["send_id"]
    service.sweep()
    assert service.counts(send)["sent"] == 600
    assert time.monotonic() - begun > 300 / 500 - 0.1, "not faster than the slowest limit"
    carried = "SELECT DISTINCT m.carrier || ' by ' || m.route FROM message m JOIN batch b ON b.id = batch_of(m.id)"
    ways = service.scalars(f"{carried} WHERE b.send_id = :send", send=send)
    assert ways == ["one by all: first"], "the message only shows which carrier took it"
    assert not list(audit(service.engine, full=True))


def test_the_operator_changes_a_limit_and_lifts_it(make: Callable[[], Service]) -> None:
    service = make()
    limits = {limit.name: limit for limit in service.worker.carrier_status.limits}
    for changed, rate in ((5.0, 5.0), (0.0, 0.0), (None, 1000.0)):
        service.execute("UPDATE carrier_limit SET changed = :changed WHERE name = 'sender ACME'", changed=changed)
        service.worker.carrier_status.refresh()
        assert limits["sender ACME"].rate == rate
    assert limits["prefix 2547"].rate == 500


def test_a_worker_that_dies_leaves_doubts_of_the_carrier(make: Callable[[], Service]) -> None:
    service = make()
    service.worker.dispatcher.stop.set()
    send = service.bulk(phones(ELSEWHERE, 3)).json["send_id"]
    service.execute(
        "UPDATE batch SET state = 'sending', epoch = 1, intent = 3, watermark = 3, carrier = 'one/sender ACME',"
        " lease_until = now() - interval '1 s', database_started = pg_postmaster_start_time()"
        " WHERE send_id = :send",
        send=send,
    )
    service.worker.sweeper.recover_and_wake()
    doubts = service.execute(
        "SELECT d.carrier, count(*) FROM doubt d JOIN batch b ON b.id = batch_of(d.message_id)"
        " WHERE b.send_id = :send GROUP BY 1",
        send=send,
    )
    assert doubts == [("one", 3)]
