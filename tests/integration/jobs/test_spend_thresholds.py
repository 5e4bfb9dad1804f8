"""An account is told once a month that its charges have reached its threshold."""

from typing import Any

from sqlalchemy import text

from shared.accounts.change_account import change_account
from shared.outbox import listen
from tests.harness.service import Service
from worker.jobs.spend_thresholds import report_spending

CHARGE = text(
    """
    INSERT INTO usage (account_id, began_at, sender_id, lane, country, status, messages, credits)
    VALUES (:account, date_trunc('month', now(), 'UTC') + CAST(:after AS interval), 'ACME', 1, 'KE', 'sent', 1,
            :credits)
    """
)


def charge(service: Service, credits: int, after: str = "0 hours") -> list[dict[str, Any]]:
    """Charge credits in an hour of this month, or the last. Returns all events of thresholds."""
    service.execute(CHARGE, account=service.account_id, after=after, credits=credits)
    return told(service)


def told(service: Service) -> list[dict[str, Any]]:
    report_spending(service.engine)
    return [each["data"] for each in service.get("/events").json["data"] if each["type"] == "spend.threshold"]


def set_threshold(service: Service, credits: int | None) -> None:
    service.transact(change_account, service.account_id, {"spend_threshold": credits})


def test_a_threshold_is_told_once_a_month(service: Service) -> None:
    listen(service.engine, service.account_id)
    assert charge(service, 99) == [], "there is no threshold"
    set_threshold(service, 100)
    assert charge(service, 50, "-1 hour") == [], "that was last month"
    first = charge(service, 1, "1 hour")
    assert [(each["credits"], each["spend_threshold"]) for each in first] == [(100, 100)]
    assert charge(service, 5, "2 hours") == first
    service.execute("UPDATE account SET spend_told = spend_told - interval '1 month'")
    assert len(told(service)) == 2


def test_another_threshold_is_told_in_the_same_month(service: Service) -> None:
    listen(service.engine, service.account_id)
    set_threshold(service, 10)
    assert len(charge(service, 10)) == 1
    set_threshold(service, 20)
    assert len(told(service)) == 1
    assert [each["spend_threshold"] for each in charge(service, 10, "1 hour")] == [10, 20]
