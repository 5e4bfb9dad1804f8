"""Requests with much work count as several, against nobody but the account that made them."""

from typing import Any

import pytest
from sqlalchemy import func

from api import request_cost
from api.http import bounded_queries
from api.resources.suppressions import routes as suppressions
from tests.harness.service import Service

RATE = 1000
REFUSED = "99902000002"
"""A phone that no carrier of the simulator takes."""


@pytest.fixture
def service(engine: Any) -> Service:
    """An account with a rate that a test can use up, and the same in its sandbox."""
    return Service(engine, 100_000, requests_per_second=RATE, sandbox_requests_per_second=RATE)


class Charges(list[tuple[int, float]]):
    """What was charged to whom."""

    def total(self, account: int) -> float:
        """Of an account."""
        return sum(cost for charged, cost in self if charged == account)


@pytest.fixture
def charges(service: Service, monkeypatch: pytest.MonkeyPatch) -> Charges:
    buckets, made = service.flask.extensions["bulksms"].rate_limits.requests, Charges()
    charge = buckets.charge

    def noting(key: int, tokens: float) -> float:
        made.append((key, tokens))
        return float(charge(key, tokens))

    monkeypatch.setattr(buckets, "charge", noting)
    return made


def suppress(service: Service, count: int) -> None:
    phones = [str(254711000000 + number) for number in range(count)]
    assert service.post("/suppressions", phones=phones).status_code == 200


def test_ordinary_use_is_not_charged(service: Service, charges: Charges) -> None:
    suppress(service, 150)
    assert service.send(phone="254722000000").status_code == 200
    assert service.bulk([str(254733000000 + number) for number in range(3_000)]).status_code == 200
    for path in ("/suppressions?limit=100", "/sends", "/messages", "/balance", "/usage", "/limits"):
        assert service.get(path).status_code == 200
    body = {
        "sender_id": "ACME",
        "phones": ["254722000000"] * 10,
        "message": "Hi {{name|you}}",
        "allow_duplicates": True,
    }
    assert service.post("/sms/quote", **body).status_code == 200
    assert charges == []


def test_a_bulk_send_of_10_000_is_charged_for_its_body_alone(service: Service, charges: Charges) -> None:
    phones = [{"phone": str(254733000000 + number), "variables": {"name": "Ann"}} for number in range(10_000)]
    assert service.bulk(phones, "Hi {{name}}").status_code == 200
    assert 0 < charges.total(service.account_id) < 12


def test_rows_that_are_returned(service: Service, charges: Charges) -> None:
    suppress(service, 500)
    assert service.get("/suppressions?limit=500").headers["RateLimit"].startswith('"requests";r=99')
    assert charges == [(service.account_id, 4)]


def test_bytes_of_a_response(service: Service, charges: Charges) -> None:
    group = service.new_group([])
    contacts = [
        {"phone": str(254711000000 + number), "fields": {f"note{n}": "n" * 250 for n in range(4)}}
        for number in range(300)
    ]
    assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200
    charges.clear()
    size = len(service.get(f"/groups/{group}/contacts?limit=300").data)
    assert charges == [(service.account_id, int(3 + size / request_cost.BYTES_PER_REQUEST) - 1)]
    assert charges.total(service.account_id) >= 6


def test_rows_of_an_export(service: Service, charges: Charges) -> None:
    suppress(service, 999)
    assert service.get("/suppressions", headers={"Accept": "text/csv"}).data.count(b"\n") == 1000
    assert charges.total(service.account_id) == pytest.approx(10)


def test_bytes_of_an_export(service: Service, charges: Charges) -> None:
    group = service.new_group([])
    contacts = [
        {"phone": str(254711000000 + number), "fields": {f"note{n}": "n" * 250 for n in range(10)}}
        for number in range(300)
    ]
    assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200
    charges.clear()
    export = service.get(f"/groups/{group}/contacts", headers={"Accept": "text/csv"})
    assert charges.total(service.account_id) >= 0.9 * len(export.data) / request_cost.BYTES_PER_REQUEST > 4


def test_rows_that_are_only_examined(service: Service, charges: Charges, monkeypatch: pytest.MonkeyPatch) -> None:
    suppress(service, 500)
    monkeypatch.setattr(bounded_queries, "MAX_ROWS_EXAMINED", 400)
    assert service.get("/suppressions?reason=stop").json["data"] == []
    assert charges == [(service.account_id, 3)]


def test_messages_that_are_only_examined(service: Service, charges: Charges) -> None:
    assert service.bulk([REFUSED, *(str(254733000000 + number) for number in range(300))]).status_code == 200
    service.sweep()
    assert len(service.get("/messages?status=failed&limit=10").json["data"]) == 1
    assert charges == [(service.account_id, 2)]


def test_a_list_that_takes_too_long(service: Service, charges: Charges, monkeypatch: pytest.MonkeyPatch) -> None:
    suppress(service, 1)
    monkeypatch.setattr(suppressions, "FIELDS", (func.pg_sleep(60),))
    monkeypatch.setattr(bounded_queries, "STATEMENT_SECONDS", 0.1)
    assert service.get("/suppressions").status_code == 503
    assert charges == [(service.account_id, bounded_queries.MAX_ROWS_EXAMINED // request_cost.ROWS_PER_REQUEST - 1)]


@pytest.mark.parametrize("path", ["/sms/quote", "/sms/send-group"])
def test_recipients_that_are_priced_one_by_one(service: Service, charges: Charges, path: str) -> None:
    """For a quote, and for a send that is refused after it."""
    group = service.new_group([str(254711000000 + number) for number in range(200)])
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi {{name}}"}
    assert service.post(path, **body).json["code"] == "no_valid_recipients"
    assert charges == [(service.account_id, 19)]
    charges.clear()
    assert service.post(path, **{**body, "message": "Hi {{name|you}}"}).status_code == 200
    assert charges == ([(service.account_id, 19)] if "quote" in path else [])


@pytest.mark.usefixtures("no_refill")
def test_an_account_in_debt_is_refused_and_no_other(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    suppress(service, 200)
    other, sandbox = service.new_token(service.new_account("other")), service.in_sandbox()
    monkeypatch.setattr(request_cost, "ROWS_PER_REQUEST", 200 / RATE / 4)
    assert service.get("/suppressions?limit=200").status_code == 200
    refused = service.send(phone="254722000000")
    assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")
    assert 3 <= int(refused.headers["Retry-After"]) <= 4
    assert service.get("/balance", token=other).status_code == 200
    assert sandbox.get("/balance").status_code == 200
    limits = service.get("/limits", token=other).json["request_cost"]
    assert limits == {"rows": 100, "recipients": 10, "body_bytes": 65_536, "debt_seconds": 5}


def test_the_sandbox_pays_for_itself(service: Service, charges: Charges) -> None:
    sandbox = service.in_sandbox()
    suppress(sandbox, 300)
    assert sandbox.get("/suppressions?limit=300").status_code == 200
    assert charges == [(sandbox.account_id, 2)]
