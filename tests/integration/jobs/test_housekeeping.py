"""When workers keep house, and what they delete."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func

import worker.sweeper
from shared.ids import first_id_at
from shared.inbound import Inbound, store
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


def test_inbound_messages_of_no_account_are_deleted_after_90_days(service: Service) -> None:
    number = service.approve(service.account_id, "254204000001")
    for days in (89, 91):
        for sent_to in ("254204000002", number):
            service.transact(store, "main", [Inbound("254711000000", sent_to, f"{days} days ago")])
        then = str(first_id_at(datetime.now(UTC) - timedelta(days=days)))[:13]
        shift = "UPDATE inbound SET id = overlay(id::text PLACING :then FROM 1)::uuid WHERE message LIKE :text"
        service.execute(shift, then=then, text=f"{days}%")
    for step in housekeeping(service.engine):
        step()
    left = service.scalar("SELECT array_agg(message ORDER BY id) FROM inbound WHERE account_id IS NULL")
    kept = service.scalar("SELECT count(*) FROM inbound WHERE account_id = :account", account=service.account_id)
    assert (left, kept) == (["89 days ago"], 2)
