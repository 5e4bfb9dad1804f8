"""The prices of an account: of a phone number, and its whole list; and the event when they change."""

from typing import Any

import pytest
from sqlalchemy import text

from shared.outbox import listen
from shared.prices import book
from tests.harness.operator import OperatorClient
from tests.harness.service import Service
from tests.integration.prices.test_price_lists import FIRST, a_list, a_version, give, load, now_valid, publish

EVENTS = text("SELECT data FROM event WHERE account_id = :account AND type = 'price.changed' ORDER BY id")
COUNTS = ("raised", "lowered", "added", "removed")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API reads what was published before each request."""
    monkeypatch.setattr(book, "FRESH", 0.0)


def announced(service: Service) -> list[tuple[Any, ...]]:
    """Version, whether it was withdrawn, and the counts of each event."""
    found = service.scalars(EVENTS, account=service.account_id)
    return [(each["version"], each["withdrawn"], *(each[name] for name in COUNTS)) for each in found]


def test_without_a_list_a_segment_costs_one_credit(service: Service) -> None:
    one = {"list": None, "version": None, "valid_from": None, "next": None}
    anything = {"prefix": None, "category": None, "price": 1}
    assert service.get("/prices?phone=254711000000").json == one | anything
    assert service.get("/prices").json == one | {"data": [{**anything, "country": None}], "next_cursor": None}
    csv = service.get("/prices", headers={"Accept": "text/csv"}).text
    assert csv == "prefix,country,category,price\n*,,,1\n"


def test_it_works(service: Service, operator: OperatorClient) -> None:
    made = a_list(operator)
    version = a_version(operator, made)
    give(operator, made, service.account_id)
    raised = load(operator, made, FIRST.replace("12", "14")).json["version_id"]
    publish(operator, raised)
    shown = service.get("/prices?phone=254701000000&category=authentication").json
    assert (shown["price"], shown["prefix"], shown["category"]) == (12, "25470", "authentication")
    assert (shown["version"], shown["next"]["price"], shown["next"]["version"]) == (version, 14, raised)
    shown = service.get("/prices?phone=254701000000").json
    assert (shown["price"], shown["prefix"], shown["category"], shown["next"]) == (10, "254", None, None)
    refused = service.get("/prices?phone=493012345678")
    assert (refused.status_code, refused.json["code"]) == (403, "no_price")
    page = service.get("/prices?limit=2").json
    assert page["next"]["version"] == raised
    at = page["next"]["valid_from"]
    then = service.get(f"/prices?at={at}").json
    assert (then["version"], then["next"], then["data"][2]["price"]) == (raised, None, 14)
    assert service.get(f"/prices?phone=254701000000&category=authentication&at={at}").json["price"] == 14
    csv = service.get(f"/prices?at={at}", headers={"Accept": "text/csv"}).text
    assert csv.endswith("25470,KE,authentication,14\n")
    early = service.get("/prices?at=2020-01-01T00:00:00Z")
    assert (early.status_code, early.json["errors"][0]["pointer"]) == (400, "/at")
    rest = service.get(f"/prices?cursor={page['next_cursor']}").json
    found = [(each["prefix"], each["country"], each["price"]) for each in page["data"] + rest["data"]]
    assert found == [("254", "KE", 10), ("33", "FR", 40), ("25470", "KE", 12)]
    assert service.in_sandbox().get("/prices?phone=254701000000").json["price"] == 10
    other = service.new_token(service.new_account("other"))
    assert service.get("/prices?phone=254701000000", token=other).json["price"] == 1
    give(operator, made, None)
    assert service.get("/prices?phone=254701000000", token=other).json["price"] == 10
    give(operator, None, None)


def test_each_change_of_an_accounts_prices_is_an_event(service: Service, operator: OperatorClient) -> None:
    listen(service.engine, service.account_id)
    made = a_list(operator)
    first = a_version(operator, made)
    assert announced(service) == []
    give(operator, made, service.account_id)
    assert announced(service) == [(first, False, 3, 0, 0, 1)]
    raised = load(operator, made, FIRST.replace("12", "14")).json["version_id"]
    publish(operator, raised)
    operator.post(f"/price-versions/{raised}/withdraw")
    operator.post(f"/price-versions/{raised}/withdraw")
    assert announced(service)[1:] == [(raised, False, 1, 0, 0, 0), (raised, True, 1, 0, 0, 0)]
    same = load(operator, made, FIRST).json["version_id"]
    publish(operator, same)
    now_valid(service, same)
    give(operator, None, service.account_id)
    assert announced(service)[3:] == [(None, False, 0, 3, 1, 0)]


def test_an_announced_version_is_told_again_when_it_changes_something_else(
    service: Service, operator: OperatorClient
) -> None:
    listen(service.engine, service.account_id)
    made = a_list(operator)
    a_version(operator, made, "prefix,price\n254,10\n")
    raised = load(operator, made, "prefix,price\n254,20\n33,40\n").json["version_id"]
    publish(operator, raised, valid_from="2190-01-01T00:00:00Z")
    give(operator, made, service.account_id)
    assert announced(service)[1:] == [(raised, False, 1, 0, 1, 0)]
    between = load(operator, made, "prefix,price\n254,10\n33,40\n").json["version_id"]
    publish(operator, between)
    operator.post(f"/price-versions/{between}/withdraw")
    publish(operator, load(operator, made, "prefix,price\n254,10\n33,39\n").json["version_id"])
    told = announced(service)[2:]
    assert told[:2] == [(between, False, 0, 0, 1, 0), (raised, False, 1, 0, 0, 0)]
    mended = load(operator, made, "prefix,price\n254,19\n33,39\n").json["version_id"]
    publish(operator, mended, valid_from="2190-01-01T00:00:00Z")
    assert announced(service)[-1] == (mended, False, 0, 2, 0, 0)
    assert operator.service.get("/prices?phone=254711000000").json["next"]["version"] == mended
    give(operator, None, service.account_id)


def test_the_default_list_tells_the_accounts_without_their_own(service: Service, operator: OperatorClient) -> None:
    own, default = a_list(operator), a_list(operator)
    a_version(operator, own)
    version = a_version(operator, default, "prefix,price\n*,2\n")
    give(operator, own, service.account_id)
    other = service.new_account("other")
    for account in (service.account_id, other):
        listen(service.engine, account)
    give(operator, default, None)
    assert announced(service) == []
    service.account_id = other
    assert announced(service) == [(version, False, 1, 0, 0, 0)]
    give(operator, None, None)
