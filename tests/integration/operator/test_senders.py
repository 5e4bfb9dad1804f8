"""Sender IDs and inbound messages by the operator API."""

import itertools

from shared.accounts.change_account import change_account
from shared.db.connection import transaction
from shared.db.tables.inbound import inbound
from shared.ids import new_id
from shared.inbound import Inbound, store
from tests.harness.operator import OperatorClient
from tests.harness.service import Service
from tests.harness.times import ahead

NUMBERS = itertools.count(254_205_000_001)
PHONE = "254711222333"


def requested(service: Service, name: str, account_id: int | None = None) -> str:
    """The id of a sender ID that an account asks for."""
    body = {"account_id": account_id or service.account_id, "sender_id": name, "use_case": "orders"}
    response = OperatorClient(service, "senders").post("/sender-ids", **body)
    assert response.status_code == 200, response.text
    return str(response.json["sender"])


def test_it_works(service: Service, operator: OperatorClient) -> None:
    sender = requested(service, "SHOP")
    pending = operator.get(f"/sender-ids?status=pending&account_id={service.account_id}").json["data"]
    assert [(each["sender"], each["use_case"]) for each in pending] == [(sender, "orders")]
    assert service.send(sender_id="SHOP").json["code"] == "sender_not_approved"
    approved = operator.post(f"/sender-ids/{sender}/approve", key="once").json
    assert (approved["status"], approved["account_id"]) == ("approved", service.account_id)
    assert service.send(sender_id="SHOP").status_code in (200, 403)  # the state is cached for two seconds
    assert operator.post(f"/sender-ids/{sender}/approve", key="once").json == approved


def test_a_taken_name_is_not_approved_again_and_similar_names_are_shown(
    service: Service, operator: OperatorClient
) -> None:
    other = service.new_account("other")
    mine, theirs, alike = (
        requested(service, "TWICE"),
        requested(service, "twice", other),
        requested(service, "TW1CE", other),
    )
    assert operator.post(f"/sender-ids/{mine}/approve").status_code == 200
    refused = operator.post(f"/sender-ids/{theirs}/approve")
    assert (refused.status_code, refused.json["code"]) == (409, "state_conflict")
    shown = operator.get(f"/sender-ids/{alike}").json
    assert ("TWICE", service.account_id) in {(each["sender_id"], each["account_id"]) for each in shown["similar_to"]}


def test_a_rejection_and_a_suspension_need_a_reason_and_hold_sends(service: Service, operator: OperatorClient) -> None:
    sender = requested(service, "HOLDME")
    for decision in ("reject", "suspend"):
        assert operator.post(f"/sender-ids/{sender}/{decision}").status_code == 400
    rejected = operator.post(f"/sender-ids/{sender}/reject", reason="not yours").json
    assert (rejected["status"], rejected["reason"]) == ("rejected", "not yours")
    assert requested(service, "HOLDME") == sender
    operator.post(f"/sender-ids/{sender}/approve")
    send = service.send(sender_id="HOLDME", send_at=ahead()).json["send_id"]
    operator.post(f"/sender-ids/{sender}/suspend", reason="complaints")
    shown = operator.get(f"/sends/{send}").json
    assert (shown["status"], shown["held_by"]) == ("held", "sender_id")
    assert operator.post(f"/sends/{send}/release").json["code"] == "state_conflict"
    operator.post(f"/sender-ids/{sender}/approve", reason="sorted out")
    assert operator.get(f"/sends/{send}").json["status"] == "scheduled"
    logged = operator.get(f"/changes?account_id={service.account_id}&action=sender.&actor={operator.actor}").json[
        "data"
    ]
    assert [each["action"] for each in logged][:2] == ["sender.approved", "sender.suspended"]


def come(service: Service, number: str, *messages: str) -> None:
    for message in messages:
        service.transact(store, "main", [Inbound(PHONE, number, message)])


def test_messages_to_an_unassigned_number_are_given_to_an_account(service: Service, operator: OperatorClient) -> None:
    number = str(next(NUMBERS))
    come(service, number, "Hello", "STOP")
    listed = operator.get(f"/inbound?sent_to={number}").json["data"]
    assert [(each["message"], each["phone"]) for each in listed] == [("STOP", PHONE), ("Hello", PHONE)]
    counted = {each["sent_to"]: each["messages"] for each in operator.get("/inbound/numbers?limit=1000").json["data"]}
    assert counted[number] == 2
    assign = {"sent_to": number, "account_id": service.account_id, "reason": "bought"}
    assert operator.post("/inbound/assign", **assign).json["code"] == "state_conflict"
    operator.post(f"/sender-ids/{requested(service, number)}/approve")
    other = service.new_account("other")
    assert operator.post("/inbound/assign", **{**assign, "account_id": other}).json["code"] == "state_conflict"
    assigned = operator.post("/inbound/assign", key="once", **assign).json
    assert (assigned["messages"], assigned["more"]) == (2, False)
    assert operator.get(f"/inbound?sent_to={number}").json["data"] == []
    assert [each["message"] for each in service.get("/inbound").json["data"]] == ["STOP", "Hello"]
    assert service.send(PHONE).json["code"] == "recipient_suppressed"
    assert operator.post("/inbound/assign", key="once", **assign).json == assigned
    assert operator.post("/inbound/assign", **assign).json["messages"] == 0


def test_the_national_number_of_a_sender_is_read_when_its_message_is_given_to_an_account(
    service: Service, operator: OperatorClient
) -> None:
    code = str(next(NUMBERS))[-5:]
    service.transact(store, "main", [Inbound("0711222444", code, "STOP")])
    service.transact(change_account, service.account_id, {"country": "KE"})
    assert operator.get(f"/inbound?sent_to={code}").json["data"][0]["phone"] == "0711222444"
    operator.post(f"/sender-ids/{requested(service, code)}/approve")
    operator.post("/inbound/assign", sent_to=code, account_id=service.account_id, reason="bought")
    assert service.get("/inbound?phone=254711222444").json["data"][0]["keyword"] == "stop"
    assert service.send("254711222444").json["code"] == "recipient_suppressed"


def test_five_thousand_messages_are_given_at_once(service: Service, operator: OperatorClient) -> None:
    number = str(next(NUMBERS))
    stored = {"carrier": "main", "phone": PHONE, "sender_id": number, "message": "Hello", "segments": 1, "missing": 0}
    with transaction(service.engine) as connection:
        connection.execute(inbound.insert(), [{**stored, "id": new_id()} for _ in range(5_001)])
    operator.post(f"/sender-ids/{requested(service, number)}/approve")
    assign = {"sent_to": number, "account_id": service.account_id, "reason": "bought"}
    given = [operator.post("/inbound/assign", **assign).json for _ in range(2)]
    assert [(each["messages"], each["more"]) for each in given] == [(5_000, True), (1, False)]


def test_texts_and_phones_need_their_scope(service: Service) -> None:
    number = str(next(NUMBERS))
    come(service, number, "A secret")
    reader = OperatorClient(service, "read")
    response = reader.get(f"/inbound?sent_to={number}")
    assert [each["message"] for each in response.json["data"]] == [None]
    assert PHONE not in response.text and "A secret" not in response.text
    assert "A secret" in OperatorClient(service, "read", "texts").get(f"/inbound?sent_to={number}").text
    service.execute(
        "INSERT INTO unreadable_receipt (carrier, reason, octets) VALUES ('main', 'x', :octets)", octets=PHONE.encode()
    )
    assert reader.get("/unreadable-receipts").json["code"] == "insufficient_scope"
    shown = OperatorClient(service, "texts").get("/unreadable-receipts?carrier=main&limit=1").json["data"]
    assert [each["text"] for each in shown] == [PHONE]
