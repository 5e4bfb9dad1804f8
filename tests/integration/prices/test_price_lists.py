"""Price lists by the operator API: sheets, versions and who has them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.prices import book
from tests.harness.live_workers import report_carrier
from tests.harness.operator import OperatorClient
from tests.harness.service import Service

NAMES = iter(f"List {number}" for number in range(1_000))
FIRST = "prefix,category,price\n254,,10\n25470,authentication,12\nFR,,40\n"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API reads what was published before each request."""
    monkeypatch.setattr(book, "FRESH", 0.0)


def a_list(operator: OperatorClient, **body: Any) -> int:
    return int(operator.post("/price-lists", name=next(NAMES), **body).json["list_id"])


def load(operator: OperatorClient, list_id: int, sheet: str, key: str | None = None) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return operator.call(
        "POST", f"/price-lists/{list_id}/import", headers, data=sheet.encode(), content_type="text/csv"
    )


def publish(operator: OperatorClient, version: int, **body: Any) -> Any:
    return operator.post(f"/price-versions/{version}/publish", **body)


def a_version(operator: OperatorClient, list_id: int, sheet: str = FIRST) -> int:
    """One that is valid."""
    version = int(load(operator, list_id, sheet).json["version_id"])
    assert publish(operator, version).status_code == 200
    now_valid(operator.service, version)
    return version


def now_valid(service: Service, *versions: int) -> None:
    for version in versions:
        values = {"id": version}
        service.execute("UPDATE price_version SET valid_from = now() WHERE id = :id", **values)
    service.execute("UPDATE price_assignment SET valid_from = now() WHERE valid_from > now()")


def give(operator: OperatorClient, list_id: int | None, account_id: int | None) -> Any:
    response = operator.post("/price-assignments", list_id=list_id, account_id=account_id)
    now_valid(operator.service)
    return response


def test_it_works(service: Service, operator: OperatorClient) -> None:
    made = a_list(operator)
    draft = load(operator, made, FIRST, "once").json
    assert (draft["status"], draft["prices"], draft["counts"]) == ("draft", 3, {"added": 3})
    assert load(operator, made, FIRST, "once").json == draft
    assert load(operator, made, FIRST + "1,,1\n", "once").json["code"] == "idempotency_key_reused"
    version = draft["version_id"]
    shown = publish(operator, version, key="publish").json
    assert shown["versions"][0]["status"] == "announced"
    assert publish(operator, version, key="publish").json == shown
    assert publish(operator, version).json["code"] == "state_conflict"
    assert operator.post(f"/price-versions/{version}/withdraw").json["code"] == "state_conflict"
    now_valid(service, version)
    assert give(operator, made, service.account_id).status_code == 200
    assert operator.get(f"/price-lists/{made}").json | {"created_at": "", "versions": []} == {
        "list_id": made,
        "name": shown["name"],
        "carrier": None,
        "version_id": version,
        "is_default": False,
        "accounts": [{"account_id": service.account_id, "name": "acme-0"}],
        "created_at": "",
        "versions": [],
    }
    assert made in {each["list_id"] for each in operator.get("/price-lists").json["data"]}
    assert [(each["version_id"], each["status"]) for each in operator.get(f"/price-lists/{made}").json["versions"]] == [
        (version, "valid")
    ]


def test_a_version_says_what_it_changes_and_prices_rise_only_with_notice(
    service: Service, operator: OperatorClient
) -> None:
    made = a_list(operator)
    a_version(operator, made)
    give(operator, made, service.account_id)
    sheet = "prefix,category,price\n254,,9\n25470,authentication,13\n1,,3\n25471,,9\n"
    draft = load(operator, made, sheet).json
    assert draft["counts"] == {"lowered": 2, "raised": 1, "added": 1, "removed": 1}
    assert [tuple(each.values())[:5] for each in draft["changes"]] == [
        ("added", "", "1", None, 3),
        ("lowered", "", "254", 10, 9),
        ("raised", "authentication", "25470", 12, 13),
        ("lowered", "", "25471", 10, 9),
        ("removed", "", "33", 40, None),
    ]
    week = datetime.now(UTC) + timedelta(days=7)
    early = publish(operator, draft["version_id"], valid_from=(week - timedelta(minutes=1)).isoformat())
    assert (early.status_code, early.json["code"]) == (409, "state_conflict")
    assert "7 days of notice" in early.json["detail"]
    shown = publish(operator, draft["version_id"]).json
    assert week <= datetime.fromisoformat(shown["versions"][0]["valid_from"]) <= week + timedelta(minutes=1)


def test_prices_are_mended_before_an_announced_raise_and_at_its_moment(
    service: Service, operator: OperatorClient
) -> None:
    made = a_list(operator)
    a_version(operator, made, "prefix,price\n254,10\n33,40\n")
    give(operator, made, service.account_id)
    mended = load(operator, made, "prefix,price\n254,12\n33,40\n").json["version_id"]
    raised = load(operator, made, "prefix,price\n254,20\n33,40\n").json["version_id"]
    at = publish(operator, raised).json["versions"][0]["valid_from"]
    lowered = load(operator, made, "prefix,price\n254,9\n33,40\n").json
    assert lowered["counts"] == {"lowered": 1}
    soon = publish(operator, lowered["version_id"]).json["versions"][0]["valid_from"]
    assert datetime.fromisoformat(soon) < datetime.now(UTC) + timedelta(minutes=2)
    (change,) = operator.get(f"/price-versions/{raised}").json["changes"]
    assert (change["before"], change["after"]) == (9, 20)
    dearer = load(operator, made, "prefix,price\n254,9\n33,41\n").json["version_id"]
    assert "7 days of notice" in publish(operator, dearer, valid_from=at[:14] + "00:00Z").json["detail"]
    assert publish(operator, mended, valid_from=at).status_code == 200
    (change,) = operator.get(f"/price-versions/{mended}").json["changes"]
    assert (change["change"], change["before"], change["after"]) == ("lowered", 20, 12)


def test_a_shorter_prefix_of_a_category_raises_what_a_longer_one_of_any_costs(
    service: Service, operator: OperatorClient
) -> None:
    made = a_list(operator)
    a_version(operator, made, "prefix,category,price\n254,,12\n25470,,10\n")
    draft = load(operator, made, "prefix,category,price\n254,,12\n25470,,10\n254,marketing,12\n").json
    assert draft["counts"] == {"raised": 1}
    assert [tuple(each.values())[:5] for each in draft["changes"]] == [("raised", "marketing", "25470", 10, 12)]


def test_prices_below_cost_are_named_where_the_cost_begins(operator: OperatorClient) -> None:
    costs = a_list(operator, carrier="dear")
    a_version(operator, costs, "prefix,price\n254,9\n25470,11\n")
    assert operator.post("/price-assignments", list_id=costs, account_id=None).json["code"] == "state_conflict"
    draft = load(operator, a_list(operator), "prefix,price\n254,10\n33,1\n").json
    assert draft["counts"] == {"added": 2, "below_cost": 1}
    assert [tuple(each.values()) for each in draft["changes"]][1:2] == [
        ("below_cost", "", "25470", None, 10, "dear", 11)
    ]


def test_a_misspelt_carrier_is_refused(operator: OperatorClient) -> None:
    report_carrier(operator.service.engine)
    refused = operator.post("/price-lists", name="Misspelt", carrier="mian")
    assert refused.json["code"] == "state_conflict" and "'mian', only main" in refused.json["detail"]
    assert operator.post("/price-lists", name="Costs of main", carrier="main").status_code == 200
    operator.service.execute("DELETE FROM carrier_report")


@pytest.mark.parametrize(
    ("sheet", "pointer", "detail"),
    [
        ("prefix,price\n254,-1\n254,1\n", "/lines/1", "'-1' is no price"),
        ("prefix,price\n254,1\n255,2\n254,2\n", "/lines/3", "lines 2 and 4"),
        ("prefix,price\n", "/lines/0", "no prices"),
        ("prefix;cost\n1;2\n", "/lines/0", "`price`"),
    ],
)
def test_a_mistake_in_a_sheet_is_named_and_nothing_is_stored(
    operator: OperatorClient, sheet: str, pointer: str, detail: str
) -> None:
    made = a_list(operator)
    response = load(operator, made, sheet)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    (error,) = response.json["errors"]
    assert error["pointer"] == pointer and detail in error["detail"]
    assert operator.get(f"/price-lists/{made}").json["versions"] == []


def test_repeated_lines_are_one_price_and_what_was_loaded_can_be_loaded_again(operator: OperatorClient) -> None:
    made = a_list(operator)
    draft = load(operator, made, "country,price,category\nKE,10,\n254,10,any\n*,5,marketing\n").json
    assert (draft["prices"], draft["counts"]["added"]) == (2, 2)
    path = f"/price-versions/{draft['version_id']}/prices"
    sheet = operator.call("GET", path, {"Accept": "text/csv"}).text
    assert sheet == "prefix,country,category,price\n254,KE,,10\n*,,marketing,5\n"
    publish(operator, draft["version_id"])
    assert "added" not in load(operator, made, sheet).json["counts"]
    first = operator.get(f"{path}?limit=1").json
    assert operator.get(f"{path}?limit=1&cursor={first['next_cursor']}").json["data"][0]["category"] == "marketing"


def test_a_list_is_given_only_with_valid_prices_and_names_are_unique(
    service: Service, operator: OperatorClient
) -> None:
    made = operator.post("/price-lists", name="Twice").json["list_id"]
    assert operator.post("/price-lists", name="Twice").json["code"] == "state_conflict"
    body = {"list_id": made, "account_id": service.account_id}
    assert operator.post("/price-assignments", **body).json["code"] == "state_conflict"
    assert operator.post("/price-assignments", list_id=made, account_id=10**9).json["code"] == "not_found"
    draft = load(operator, made, FIRST).json["version_id"]
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert publish(operator, draft, valid_from=yesterday).json["code"] == "state_conflict"
    assert operator.post(f"/price-versions/{draft}/withdraw").json["versions"] == []
    assert operator.get(f"/price-versions/{draft}").json["code"] == "not_found"


def test_changes_and_mistakes_are_named_up_to_a_maximum(operator: OperatorClient) -> None:
    made = a_list(operator)
    draft = load(operator, made, "prefix,price\n" + "".join(f"{3000 + n},1\n" for n in range(101))).json
    assert (draft["counts"], len(draft["changes"])) == ({"added": 101}, 100), draft["counts"]
    refused = load(operator, made, "prefix,price\n" + "".join(f"{1000 + n},x\n" for n in range(101)) + "1,1\n1,2\n")
    assert (refused.json["errors_total"], len(refused.json["errors"])) == (102, 100)
