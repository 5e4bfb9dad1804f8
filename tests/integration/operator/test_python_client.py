"""The operator API by the Python client: a customer is taken on, and the installation looked at."""

import io
from collections.abc import Iterator

import pytest
from bulksms_client import ApiError
from bulksms_client.operator import OperatorClient as Client
from sqlalchemy import text

from shared.accounts.operator_keys import OPERATOR_SCOPES, create_operator_key
from shared.db.connection import transaction
from shared.inbound import Inbound, store
from tests.harness.console import serving
from tests.harness.service import SECRET_KEY, Service


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    with service.engine.begin() as connection:
        key = create_operator_key(connection, "onboarding", tuple(OPERATOR_SCOPES), SECRET_KEY)
    with serving(service.flask.wsgi_app) as url, Client(url, key.api_key, key.api_secret) as made:
        yield made


def test_it_works(service: Service, client: Client) -> None:
    name = f"customer-of-{service.account_id}"
    account = client.accounts.create(name, key=name, country="KE")["account_id"]
    assert client.accounts.create(name, key=name, country="KE")["account_id"] == account
    assert [each["account_id"] for each in client.accounts.page(search=name)["data"]] == [account]
    for _ in range(2):
        assert client.top_ups.create(account, 1000, "invoice 1", f"payment-{name}")["balance"] == 1000
    top_up = client.top_ups.page(account)["data"][0]["top_up_id"]
    assert client.top_ups.reverse(account, top_up, 400, "a mistake")["balance"] == 600
    sender = client.sender_ids.create(account, f"NEW{account}", "orders")["sender"]
    assert client.sender_ids.one(sender)["status"] == "pending"
    assert client.sender_ids.approve(sender)["status"] == "approved"
    assert client.sender_ids.suspend(sender, "complaints")["status"] == "suspended"
    key = client.api_keys.create(account, {"name": "shop"})
    assert key["api_secret"] and client.api_keys.page(account)["data"][0]["api_key"] == key["api_key"]
    assert client.api_keys.revoke(account, key["api_key"])["revoked"]
    assert client.accounts.change(account, {"weight": 2})["weight"] == 2
    assert client.accounts.suspend(account, "unpaid")["status"] == "suspended"
    assert client.accounts.activate(account)["status"] == "active"
    assert client.accounts.limits(account)["spend_day"] is None
    assert [each["category"] for each in client.accounts.rules(account)["data"]] == ["transactional", "marketing"]
    assert client.accounts.close(account, "left")["status"] == "closed"
    logged = client.installation.changes(account_id=account, action="account.topped_up")["data"]
    assert [each["reason"] for each in logged] == ["invoice 1"]


def test_credits_are_refunded_once(service: Service, client: Client) -> None:
    sent = service.send().json
    message = client.top_ups.refund_message(service.account_id, sent["message_id"], "not useful")
    assert message["credits"] == 1
    with pytest.raises(ApiError) as refused:
        client.top_ups.refund_message(service.account_id, sent["message_id"], "once more")
    assert refused.value.code == "state_conflict"
    other = service.send().json["send_id"]
    assert client.top_ups.refund_send(service.account_id, other, "not useful")["credits"] == 1


def test_the_installation_is_seen(service: Service, client: Client) -> None:
    assert client.installation.guard()["held"] is False
    assert isinstance(client.installation.audits()["data"], list)
    assert client.installation.doctor()["findings"]
    assert isinstance(client.carriers.queue()["data"], list)
    with pytest.raises(ApiError) as refused:
        client.carriers.one("a/b?c")
    assert refused.value.status == 404


def test_a_carrier_is_paused_and_resumed(service: Service, client: Client) -> None:
    report = """
        INSERT INTO carrier_report (carrier, worker, state, since, rate, allowed, "window", alone, submitted, throttled,
                                    failed, reported_at)
        VALUES ('by client', 'w', 'ready', now(), 0, 0, 10, false, 0, 0, 0, now() + interval '10 minutes')
    """
    with service.engine.begin() as connection:
        connection.execute(text(report))
    try:
        assert "by client" in {each["carrier"] for each in client.carriers.all()["data"]}
        assert client.carriers.pause("by client", "maintenance")["carrier"] == "by client"
        assert client.carriers.resume("by client")["carrier"] == "by client"
    finally:
        with service.engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM carrier_report WHERE carrier = 'by client'")
            connection.exec_driver_sql("DELETE FROM carrier_setting WHERE name = 'by client'")


def test_doubts_are_resolved(service: Service, client: Client) -> None:
    first, second = service.bulk(["99906800001", "99906800002"]).json["messages"]
    send = service.get(f"/messages/{first['message_id']}").json["send_id"]
    listed = client.doubts.page(send_id=send)["data"]
    assert {each["message_id"] for each in listed} == {first["message_id"], second["message_id"]}
    assert client.doubts.resolve([first["message_id"]], "sent", key="once")["resolved"] == 1
    report = b"phone,status\n99906800002,delivered\n"
    for _ in range(2):
        response = client.doubts.reconcile(
            listed[0]["carrier"], io.BytesIO(report), len(report), key=f"report-{send}", apply="true"
        )
        assert response["resolved"] == 1


def test_a_message_and_its_timeline_are_found(service: Service, client: Client) -> None:
    sent = service.send("254711000001", "Hi", reference="order 17").json
    found = client.messages.page(account_id=service.account_id, phone="254711000001")["data"]
    assert [each["message_id"] for each in found] == [sent["message_id"]]
    assert client.messages.one(sent["message_id"])["timeline"][0]["type"] == "accepted"
    number = f"2543{service.account_id:08d}"
    with transaction(service.engine) as connection:
        store(connection, "simulator", [Inbound("+254711000001", f"+{number}", "Is it open?")])
    assert [each["message"] for each in client.inbound.page(sent_to=number)["data"]] == ["Is it open?"]
    assert number in [each["sent_to"] for each in client.inbound.numbers(limit=1000)["data"]]
