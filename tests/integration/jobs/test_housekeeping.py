"""When workers keep house, and what they delete."""

from datetime import timedelta

import pytest
from sqlalchemy import func

import worker.sweeper
from tests.harness.live_workers import report_carrier
from tests.harness.service import Service
from worker.jobs.housekeeping import housekeeping


def test_one_worker_keeps_house_every_ten_minutes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[None] = []
    sweeper = service.worker.sweeper
    monkeypatch.setattr(worker.sweeper, "housekeeping", lambda engine: [lambda: kept.append(None)])
    service.execute("DELETE FROM lease WHERE name = 'housekeeping'")
    sweeper._keep_house_when_due()
    service.execute("UPDATE lease SET held_until = held_until - interval '9 minutes' WHERE name = 'housekeeping'")
    sweeper._keep_house_when_due()
    assert len(kept) == 1
    service.execute("UPDATE lease SET held_until = held_until - interval '1 minute' WHERE name = 'housekeeping'")
    sweeper._keep_house_when_due()
    assert len(kept) == 2


def test_reports_of_workers_that_ended_a_day_ago_are_deleted(service: Service) -> None:
    service.execute("DELETE FROM carrier_report")
    for hours in (1, 23, 25):
        report_carrier(service.engine, worker=f"{hours} hours ago", reported_at=func.now() - timedelta(hours=hours))
    for step in housekeeping(service.engine):
        step()
    left = service.scalar("SELECT array_agg(worker ORDER BY reported_at) FROM carrier_report")
    service.execute("DELETE FROM carrier_report")
    assert left == ["23 hours ago", "1 hours ago"]
