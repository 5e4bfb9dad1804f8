"""Messages of all accounts by the operator API: what became of a customer's message."""

from typing import Any

import pytest

from tests.harness.operator import OperatorClient
from tests.harness.pages import every
from tests.harness.service import Service
from tests.harness.times import ahead

PHONE, OTHER = "254711400001", "254711400002"
TEXT = "Your table is ready, Ann"
PRIVATE = ("254711400001", TEXT, "Ann")


@pytest.fixture
def sent(service: Service) -> dict[str, Any]:
    return dict(service.send(PHONE, TEXT, reference="order A-1042").json)


def found(operator: OperatorClient, query: str) -> list[str]:
    """The ids of all messages that a search finds, page by page."""
    return [each["message_id"] for each in every(operator.get, f"/messages?{query}")]


def test_it_works(service: Service, operator: OperatorClient, sent: dict[str, Any]) -> None:
    listed = operator.get(f"/messages?account_id={service.account_id}").json["data"]
    assert [(each["message_id"], each["account_id"]) for each in listed] == [(sent["message_id"], service.account_id)]
    shown = operator.get(f"/messages/{sent['message_id']}").json
    assert (shown["account_id"], shown["phone"], shown["text"]) == (service.account_id, PHONE, TEXT)
    own = service.get(f"/messages/{sent['message_id']}").json
    assert (shown["timeline"], shown["attempts"], shown["parts"]) == (own["timeline"], own["attempts"], own["parts"])


def test_phones_and_texts_need_their_scope(service: Service, sent: dict[str, Any]) -> None:
    reader = OperatorClient(service, "read")
    shown = reader.get(f"/messages/{sent['message_id']}")
    assert (shown.json["phone"], shown.json["text"], shown.json["parts"]) == ("254*******01", None, [])
    assert shown.json["timeline"][0]["type"] == "accepted"
    for response in (shown, reader.get(f"/messages?phone={PHONE}"), reader.get("/messages")):
        assert response.status_code == 200 and not any(each in response.text for each in PRIVATE)


def test_a_search_finds_the_messages_that_match(
    service: Service, operator: OperatorClient, sent: dict[str, Any]
) -> None:
    neighbour = service.new_account("neighbour", credits=100)
    theirs = service.post("/sms/send", token=service.new_token(neighbour), sender_id="ACME", phone=PHONE, message="Hi")
    assert theirs.status_code == 200, theirs.text
    other = service.send(OTHER, "Hi", send_at=ahead()).json
    mine, foreign, later = sent["message_id"], theirs.json["message_id"], other["message_id"]
    own = f"account_id={service.account_id}"
    assert found(operator, f"{own}&phone={PHONE}") == [mine]
    assert found(operator, f"account_id={neighbour}&phone={PHONE}") == [foreign]
    assert found(operator, f"phone={PHONE}&limit=1")[:2] == [foreign, mine]
    assert found(operator, f"send_id={sent['send_id']}") == [mine]
    assert found(operator, f"{own}&reference=order A-1042") == [mine]
    assert found(operator, f"{own}&status=scheduled") == [later]
    assert found(operator, f"{own}&limit=1") == [later, mine]
    assert found(operator, f"{own}&until=2020-01-01T00:00:00Z") == []
    assert found(operator, f"since=2020-01-01T00:00:00Z&phone={OTHER}") == [later]


@pytest.mark.parametrize(
    "query", ["phone=x", "status=lost", "account_id=0", "send_id=1", "since=soon", "cursor=!", "nobody=1", "limit=0"]
)
def test_an_invalid_search_is_refused(operator: OperatorClient, query: str) -> None:
    response = operator.get(f"/messages?{query}")
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
