"""References that recipients of a list have of their own come back wherever their messages do."""

from typing import Any

import pytest
from sqlalchemy import text

from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.messages.test_messages import listed, shown

ANN, BOB, EVE = "254711000101", "254711000102", "254711000103"


def recipient(phone: str, reference: Any = None, **variables: str) -> dict[str, Any]:
    given = {"phone": phone, "variables": variables}
    return given if reference is None else {**given, "reference": reference}


def stored(service: Service) -> dict[str, str]:
    """By phone, what is stored of the account."""
    rows = text("SELECT message_id FROM recipient_reference WHERE account_id = :account")
    ids = service.scalars(rows, account=service.account_id)
    found = [shown(service, str(each)) for each in ids]
    return {each["phone"]: each["reference"] for each in found}


def test_it_works(service: Service) -> None:
    service.get("/events")
    sent = service.bulk([recipient(ANN, "order\t1 \\n"), BOB, recipient(EVE, "order 3")], reference="all").json
    service.deliver_receipts()
    expected = {ANN: "order\t1 \\n", BOB: "all", EVE: "order 3"}
    assert {each["phone"]: each.get("reference") for each in sent["messages"]} == {**expected, BOB: None}
    assert sent["reference"] == service.get(f"/sends/{sent['send_id']}").json["reference"] == "all"
    by_phone = {each["phone"]: each for each in service.get(f"/sends/{sent['send_id']}/messages").json["data"]}
    assert {phone: each["reference"] for phone, each in by_phone.items()} == expected
    assert shown(service, by_phone[ANN]["message_id"])["reference"] == expected[ANN]
    events = service.get("/events?types=message.delivered").json["data"]
    assert {each["data"]["phone"]: each["data"]["reference"] for each in events} == expected
    lines = service.get(f"/sends/{sent['send_id']}/messages", headers={"Accept": "text/csv"}).text.splitlines()
    assert [dict(zip(lines[0].split(","), each.split(","), strict=True))["reference"] for each in lines[2:]] == [
        "all",
        "order 3",
    ]


def test_a_list_without_them_stores_none(service: Service) -> None:
    service.bulk([recipient(ANN, word="x"), BOB], "{{word|y}}", reference="all")
    assert stored(service) == {}


@pytest.mark.parametrize(
    ("reference", "code"),
    [("x" * 256, "invalid"), ("", "invalid"), ("a\0b", "invalid"), (7, "wrong_type"), (["x"], "wrong_type")],
)
def test_a_wrong_reference_is_refused(service: Service, reference: Any, code: str) -> None:
    recipients = [recipient(ANN, reference), recipient(BOB, "x" * 255)]
    response = service.bulk(recipients)
    if "\0" in str(reference):  # no string of a request may have it
        assert response.status_code == 400
        return
    assert [each["code"] for each in response.json["rejected"]] == [code]
    assert stored(service) == {BOB: "x" * 255}
    assert service.bulk(recipients, strict=True).status_code == 400


@pytest.mark.parametrize("message", ["Hi", "Hi {{word|x}}"])
@pytest.mark.parametrize("more", [{}, {"quiet_hours": {"from": "21:00", "until": "08:00"}}])
def test_each_stays_with_its_recipient(service: Service, message: str, more: dict[str, Any]) -> None:
    """Through batches of one time zone, and of texts with as many segments; and past recipients that are rejected."""
    recipients: list[Any] = [
        recipient(phone, f"to {phone}", word="x" * (200 if number % 2 else 1))
        for number, phone in enumerate([ANN, "4915112345678", BOB, "919812345678", EVE, "12025550123", "4915112345679"])
    ]
    expected = {each["phone"]: each["reference"] for each in recipients}
    recipients[2:2] = ["0711", recipient(ANN, "again"), "254711000104"]
    answer = service.bulk(recipients, message, send_at=ahead(), **more).json
    assert {each["phone"]: each["reference"] for each in answer["messages"] if "reference" in each} == expected
    assert stored(service) == expected


def test_a_search_finds_recipients_first_and_then_sends(service: Service) -> None:
    for number in range(3):
        recipients = [recipient(ANN, "same"), recipient(BOB, f"own {number}"), EVE]
        service.bulk(recipients, reference="same" if number else "x")
        service.send(ANN, reference="same")
    found = listed(service, "reference=same")
    assert [each["reference"] for each in found[:3]] == ["same"] * 3
    assert sorted(each["phone"] for each in found) == sorted([ANN] * 3 + [ANN] * 3 + [BOB, EVE] * 2)
    for limit in (1, 2, 3, 4):
        assert listed(service, f"reference=same&limit={limit}") == found
    assert [each["phone"] for each in listed(service, f"reference=same&phone={EVE}")] == [EVE] * 2
    assert [each["phone"] for each in listed(service, "reference=own%201")] == [BOB]
    assert listed(service, f"reference=same&until={found[0]['created_at']}") != found
    stranger = service.new_token(service.new_account("stranger"))
    assert service.get("/messages?reference=own%201", token=stranger).json["data"] == []


def test_an_index_finds_a_recipient_behind_many_sends(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.messages.search.MAX_SENDS", 2)
    service.bulk([recipient(ANN, "old"), BOB])
    for _ in range(4):
        service.send(EVE)
    page = service.get("/messages?reference=old").json
    assert [each["phone"] for each in page["data"]] == [ANN]
