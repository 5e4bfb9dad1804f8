"""What messages brought and cost, by the operator API, and the doctor's look at prices below cost."""

import csv
import io

import pytest
from sqlalchemy import text

from shared.health.prices import check_prices
from shared.prices.lists import assign
from tests.harness.operator import OperatorClient
from tests.harness.pages import every
from tests.harness.prices import valid_list
from tests.harness.service import Service

COUNTED = text(
    """
    INSERT INTO margin (account_id, began_at, country, carrier, costed, messages, credits, cost) VALUES
    (:account, '2026-03-01T09:00Z', 'KE', 'one', true, 10, 30, 20),
    (:account, '2026-03-01T10:00Z', 'KE', 'two', true, 1, 3, 4),
    (:account, '2026-03-02T09:00Z', 'DE', 'one', false, 2, 6, 0),
    (:account, '2026-04-01T00:00Z', 'DE', 'one', true, 9, 9, 9)
    """
)
MARCH = "since=2026-03-01&until=2026-03-31"
NUMBERS = ("messages", "credits", "cost", "margin", "messages_without_cost")


@pytest.fixture(autouse=True)
def counted(service: Service) -> None:
    service.execute("DELETE FROM margin")
    service.execute(COUNTED, account=service.account_id)


def test_it_works(service: Service, operator: OperatorClient) -> None:
    rows = operator.get(f"/margin?{MARCH}&by=country").json["data"]
    assert [(row["country"], *(row[name] for name in NUMBERS)) for row in rows] == [
        ("DE", 2, 6, None, None, 2),
        ("KE", 11, 33, 24, 9, 0),
    ]
    (of_account,) = operator.get(f"/margin?{MARCH}&by=account").json["data"]
    assert [of_account[name] for name in ("account_id", "margin", "day", "country")] == [
        service.account_id,
        9,
        None,
        None,
    ]


def test_pages_and_csv_have_the_same_rows(operator: OperatorClient) -> None:
    whole = operator.get(f"/margin?{MARCH}").json["data"]
    assert every(operator.get, f"/margin?{MARCH}&limit=1") == whole
    assert len(whole) == 3
    lines = csv.DictReader(io.StringIO(operator.call("GET", f"/margin?{MARCH}", {"Accept": "text/csv"}).text))
    assert list(lines) == [{name: "" if each is None else str(each) for name, each in row.items()} for row in whole]


@pytest.mark.parametrize("query", ["by=sender_id", "by=", "since=yesterday", "limit=0", "cursor=WzFd"])
def test_a_report_that_cannot_be_made_is_refused(operator: OperatorClient, query: str) -> None:
    response = operator.get(f"/margin?{query}")
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")


def test_the_doctor_names_prices_below_cost(service: Service) -> None:
    def findings() -> list[tuple[str, str]]:
        found = service.transact(lambda connection: list(check_prices(connection)))
        return [(each.outcome, each.detail) for each in found]

    assert findings() == [("ok", "none is lower than a carrier costs")]
    valid_list(service.engine, "of main", ("", "254", 2), ("", "25471", 9), ("", "1", 5), carrier="main")
    sold = valid_list(service.engine, "retail", ("", "254", 3), ("marketing", "254", 1), ("", "1", 4))
    assert findings() == [("ok", "none is lower than a carrier costs")]  # nobody has the list
    service.transact(assign, service.account_id, sold)
    service.execute("UPDATE price_assignment SET valid_from = now()")
    assert findings() == [
        (
            "notice",
            "4 prices are lower in retail than a carrier costs: any to 1 for 4 (main: 5); marketing to 254 for 1 (main:"
            " 2); any to 25471 for 3 (main: 9)",
        )
    ]
