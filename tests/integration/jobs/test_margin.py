"""Margin is what charged messages brought less what their carrier costs, however often it is counted."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from bulksms.local.postgres import Postgres
from shared.prices.margin import margin
from tests.harness.database import dispose, fresh_database
from tests.harness.prices import valid_list
from tests.harness.service import Service
from tests.integration.jobs.test_usage import count
from worker.jobs.retention import forget

KE, KE_DEAR, US, REJECTED = "254722000000", "254711000000", "12125550123", "99902000001"
ROWS = text("SELECT count(*) FROM margin")


def report(service: Service, *by: str) -> list[dict[str, Any]]:
    count(service)
    return [row for row in service.transact(margin, ["account", *by]) if row["account_id"] == service.account_id]


def numbers(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("messages", "credits", "cost", "margin", "messages_without_cost"))


def test_it_works(service: Service) -> None:
    prices = (("", "254", 1), ("", "25471100", 3), ("marketing", "254", 0))
    valid_list(service.engine, "simulator's", *prices, carrier="simulator")
    service.bulk([KE, KE_DEAR, US, REJECTED], message="x" * 161)
    service.bulk([KE_DEAR], category="marketing")
    service.in_sandbox().send(KE)
    service.deliver_receipts()
    assert {row["country"]: numbers(row) for row in report(service, "country")} == {
        "KE": (3, 5, 8, -3, 0),
        "US": (1, 2, None, None, 1),
    }
    assert [numbers(row) for row in report(service)] == [(4, 7, 8, -3, 1)]


def test_what_was_counted_stays_when_its_messages_are_forgotten(service: Service) -> None:
    service.bulk([KE, KE_DEAR, US])
    service.deliver_receipts()
    before = report(service, "day", "country", "carrier")
    assert [(row["country"], row["carrier"], *numbers(row)) for row in before] == [
        ("KE", "simulator", 2, 2, 4, -2, 0),
        ("US", "simulator", 1, 1, None, None, 1),
    ]
    assert forget(service.engine, 30, datetime.now(UTC) + timedelta(days=40)) > 0
    assert report(service, "day", "country", "carrier") == before


def test_nothing_is_counted_while_no_carrier_has_costs(postgres_server: Postgres) -> None:
    service = Service(fresh_database(postgres_server))
    service.bulk([KE, US])
    count(service)
    assert service.scalar(ROWS) == 0
    dispose(service.engine)
