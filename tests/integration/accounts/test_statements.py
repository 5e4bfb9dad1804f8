"""Statements as the account and the operator see them."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from tests.harness.operator import OperatorClient
from tests.harness.service import Service
from worker.jobs.statements import count_statements

CSV = {"Accept": "text/csv"}


def this_month() -> datetime:
    """The first moment of the month."""
    return datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def end(service: Service) -> None:
    """Let a worker close the month."""
    count_statements(service.engine, (this_month() + timedelta(days=32)).replace(day=1, hour=2))


def test_it_works(service: Service) -> None:
    service.bulk(["254711000001", "254711000002"], message="x" * 161)
    month = f"{this_month():%Y-%m}"
    sums = {
        "opening": 0,
        "top_ups": 1000,
        "reversals": 0,
        "adjustments": 0,
        "charges": -4,
        "refunds": 0,
        "closing": 996,
    }
    live = {"month": month, "closed": False, **sums}
    assert service.get("/statements").json == {"data": [live]}
    nothing = {"month": None, "sender_id": None, "category": None}
    messages = {"kind": "capture", "month": None, "sender_id": "ACME", "category": "transactional", "price": 2}
    lines = [
        {"kind": "topup", **nothing, "price": None, "messages": 0, "segments": 0, "credits": 1000},
        {**messages, "messages": 2, "segments": 4, "credits": -4},
    ]
    assert service.get(f"/statements/{month}").json == {**live, "lines": lines}
    response = service.get(f"/statements/{month}", headers=CSV)
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [(row["kind"], row["credits"]) for row in rows] == [
        ("opening", "0"),
        ("topup", "1000"),
        ("capture", "-4"),
        ("closing", "996"),
    ]


def test_each_account_and_its_sandbox_has_statements_of_its_own(service: Service, operator: OperatorClient) -> None:
    service.send()
    month = f"{this_month():%Y-%m}"
    other, sandbox = service.new_account("other", 7), service.in_sandbox()
    token = service.new_token(other)
    end(service)
    for path in ("/statements", f"/statements/{month}"):
        responses = (
            service.get(path),
            service.get(path, token=token),
            sandbox.get(path),
            operator.get(f"/accounts/{other}{path}"),
        )
        shown = [response.json.get("data", [response.json])[0]["closing"] for response in responses]
        assert shown == [999, 7, 1_000_000, 7]
        assert operator.get(f"/accounts/{sandbox.account_id}{path}").status_code == 404


def test_a_closed_month_is_the_same_for_all_and_an_event(service: Service, operator: OperatorClient) -> None:
    service.get("/events")
    service.send()
    month = f"{this_month():%Y-%m}"
    end(service)
    closed = service.get(f"/statements/{month}")
    assert closed.json["closed"] is True
    assert operator.get(f"/accounts/{service.account_id}/statements/{month}").data == closed.data
    service.send()
    end(service)
    assert service.get(f"/statements/{month}").data == closed.data
    events = [each for each in service.get("/events").json["data"] if each["type"] == "statement.closed"]
    names = ("month", "closed", "opening", "top_ups", "reversals", "adjustments", "charges", "refunds", "closing")
    assert [each["data"] for each in events] == [{name: closed.json[name] for name in names}]


@pytest.mark.parametrize(
    "month", ["2026-13", "2026-1", "2026-\u0660\u0661", "0001-01", "9999-12", "202601", "x", "2026-01-01"]
)
def test_a_month_without_a_statement_is_not_found(service: Service, operator: OperatorClient, month: str) -> None:
    response = service.get(f"/statements/{month}")
    assert (response.status_code, response.json["code"]) == (404, "statement_not_found")
    response = operator.get(f"/accounts/{service.account_id}/statements/{month}")
    assert (response.status_code, response.json["code"]) == (404, "not_found")


@pytest.mark.parametrize("is_counted", [True, False])
def test_the_list_has_every_month(service: Service, is_counted: bool) -> None:
    ago = "UPDATE account SET created_at = now() - interval '70 days' WHERE id = :account"
    service.execute(ago, account=service.account_id)
    if is_counted:
        end(service)
    months = [each["month"] for each in service.get("/statements").json["data"]]
    begun = this_month()
    expected = []
    while begun.date() >= (datetime.now(UTC) - timedelta(days=70)).date().replace(day=1):
        expected.append(f"{begun:%Y-%m}")
        begun = (begun - timedelta(days=1)).replace(day=1)
    assert months == expected
