"""A worker whose machine has a wrong clock is found by the doctor; the database's may be set back."""

import time
from datetime import timedelta

import pytest
from sqlalchemy import text

from api.metrics.installation import NOW
from shared.health.doctor import clock_findings
from shared.health.restore_guard import WORKERS as WORKERS_OF_DOCTOR
from shared.sends.sendable import UNAVAILABLE_ONLY_CARRIER
from tests.harness.live_workers import keep_reports
from tests.harness.service import Service
from worker.leases import take_lease
from worker.pacing.carrier_status import OTHERS
from worker.sweeper import WORKERS

METRIC = NOW["bulksms_workers"][1]
WORKER = "UPDATE lease SET clock_offset = :offset WHERE name LIKE 'worker:%'"


@pytest.fixture(autouse=True)
def no_other_worker(service: Service) -> None:
    """Workers of earlier tests have left their leases."""
    service.execute("DELETE FROM lease")


@pytest.mark.parametrize(
    ("offset", "detail"),
    [
        (0.0, None),
        (9.0, None),
        (3600.0, "is 3,600 s ahead of the database's"),
        (-11.0, "is 11 s behind the database's"),
    ],
)
def test_a_wrong_clock_is_reported(service: Service, offset: float, detail: str | None) -> None:
    service.worker.sweeper.send_heartbeat()
    keep_reports(service.engine)
    with service.engine.begin() as connection:
        measured = connection.execute(text("SELECT clock_offset FROM lease WHERE name LIKE 'worker:%'")).scalar_one()
        assert abs(measured) < 60, "the same machine"
        connection.execute(text(WORKER), {"offset": offset})
        found = list(clock_findings(connection))
    assert [finding.detail.partition("'s ")[2] for finding in found] == ([] if detail is None else [detail])


def test_it_is_measured(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    true = time.time
    monkeypatch.setattr(time, "time", lambda: true() - 3600)
    service.worker.sweeper.send_heartbeat()
    keep_reports(service.engine)
    (found,) = service.transact(lambda connection: list(clock_findings(connection)))
    assert found.outcome == "wrong" and "behind the database's" in found.detail


@pytest.mark.parametrize(("ahead", "leads"), [("-1 second", True), ("25 seconds", False), ("2 hours", True)])
def test_another_worker_leads_after_the_clock_of_the_database_was_set_back(
    service: Service, ahead: str, leads: bool
) -> None:
    """The worker that led has died: nobody would sweep until the clock has caught up."""
    assert service.transact(take_lease, "sweeper", "dead", timedelta(seconds=3))
    service.execute(f"UPDATE lease SET held_until = clock_timestamp() + interval '{ahead}'")
    assert service.transact(take_lease, "sweeper", "another", timedelta(seconds=3)) is leads


@pytest.mark.parametrize(("ahead", "alive"), [("-10 minutes", False), ("40 seconds", True), ("2 hours", False)])
def test_a_worker_that_died_before_the_clock_was_set_back_is_dead(service: Service, ahead: str, alive: bool) -> None:
    at = f"clock_timestamp() + interval '{ahead}'"
    report = f"""
        INSERT INTO carrier_report (carrier, worker, state, since, rate, allowed, "window", alone, submitted, throttled,
                                    failed, reported_at)
        VALUES ('main', 'dead', 'down', now(), 100, 100, 10, true, 0, 0, 0, {at})
    """
    with service.engine.connect() as connection:
        connection.execute(text("DELETE FROM carrier_report"))
        connection.execute(text(report))
        connection.execute(text(f"INSERT INTO lease (name, holder, held_until) VALUES ('worker:dead', 'dead', {at})"))
        reported = connection.execute(OTHERS, {"worker": "alive"}).all()
        workers = [connection.execute(statement).scalar_one() for statement in (WORKERS, WORKERS_OF_DOCTOR, METRIC)]
        unavailable = connection.execute(text(UNAVAILABLE_ONLY_CARRIER)).scalar()
    assert [row.without_redis for row in reported] == [1] * alive
    assert workers == [alive] * 3
    assert (unavailable == "main") is alive
