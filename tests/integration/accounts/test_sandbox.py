"""A test key works in a sandbox of its account, which shares nothing with the live side but what an operator sets."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from api.server.application import Owners
from shared.accounts.administration import (
    activate_account,
    freeze_accounts,
    suspend_account,
)
from shared.accounts.category_rules import set_cap
from shared.accounts.change_account import change_account
from shared.accounts.limits import set_limits
from shared.audit.check import audit
from shared.inbound import Inbound, store
from shared.scopes import DEFAULT_SCOPES
from shared.senders.sender_ids import decide_sender, request_sender
from tests.harness.deliveries import settled_events
from tests.harness.own_database import own_database
from tests.harness.people import a_person
from tests.harness.service import Service
from tests.harness.times import ahead

pytestmark = pytest.mark.usefixtures("nothing_is_remembered")

PHONE = "254711000000"


engine = own_database


def code(response: TestResponse) -> str:
    return str(response.get_json(force=True)["code"])


def of_account(service: Service, column: str, account: int) -> Any:
    with service.engine.connect() as connection:
        row = connection.execute(text("SELECT * FROM account WHERE id = :id"), {"id": account}).mappings().one()
    return row[column]


def test_it_works(service: Service) -> None:
    sandbox = service.in_sandbox()
    sent = sandbox.send(PHONE)
    assert (sent.json["test"], sent.json["cost"], sent.json["balance"]) == (True, 1, 999_999)
    sandbox.deliver_receipts()
    assert sandbox.get(f"/messages/{sent.json['message_id']}").json["status"] == "delivered"
    assert service.get("/messages").json["data"] == []
    assert service.get("/balance").json["balance"] == 1000
    assert audit(service.engine, full=True) == []


def test_play_credits_run_out_and_are_filled_up_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.accounts.sandbox.PLAY_CREDITS", 3)
    sandbox = service.in_sandbox()
    assert sandbox.send(PHONE).json["balance"] == 2
    low = sandbox.bulk([PHONE, "254711000001", "254711000002"])
    assert (low.status_code, code(low), low.json["required"], low.json["balance"]) == (402, "low_balance", 3, 2)
    key = {"Idempotency-Key": "fill"}
    for _ in range(2):
        filled = sandbox.post("/sandbox/refill", headers=key)
        assert filled.json == {"added": 1, "balance": 3, "reserved": 0}
    assert sandbox.post("/sandbox/refill").json["added"] == 0
    assert (service.post("/sandbox/refill").status_code, code(service.post("/sandbox/refill"))) == (403, "sandbox_only")
    assert service.get("/balance").json["balance"] == 1000
    assert audit(service.engine, full=True) == []


def test_sender_ids_are_approved_at_once_even_if_another_account_has_them(service: Service) -> None:
    other = service.new_account("other")
    service.transact(request_sender, other, "BANK")
    service.transact(decide_sender, other, "BANK", "approved")
    sandbox = service.in_sandbox()
    response = sandbox.post("/sender-ids", sender_id="BANK")
    assert (response.json["status"], response.json["reason"]) == ("approved", None)
    assert sandbox.send(sender_id="BANK").status_code == 200
    assert code(service.send(sender_id="BANK")) == "sender_not_registered"


def test_the_sandbox_has_the_sender_ids_that_its_account_is_given(service: Service) -> None:
    sandbox = service.in_sandbox()
    assert sandbox.send(sender_id="ACME").status_code == 200
    service.transact(request_sender, service.account_id, "LATER")
    assert code(sandbox.send(sender_id="LATER")) == "sender_not_registered"
    service = Service(service.engine)
    sandbox = service.in_sandbox()
    service.transact(request_sender, service.account_id, "LATER")
    service.transact(decide_sender, service.account_id, "LATER", "approved")
    assert sandbox.send(sender_id="LATER").status_code == 200


def test_a_sandbox_gets_no_inbound_messages(service: Service) -> None:
    number = "254700123456"
    sandbox = service.in_sandbox()
    sandbox.post("/sender-ids", sender_id=number)
    service.transact(store, "simulator", [Inbound(PHONE, number, "STOP")])
    assert sandbox.get("/inbound").json["data"] == []
    assert sandbox.send(PHONE).status_code == 200


def test_what_an_operator_sets_holds_for_the_sandbox_too(service: Service) -> None:
    sandbox = service.in_sandbox()
    service.transact(change_account, service.account_id, {"country": "KE"})
    assert of_account(service, "country", sandbox.account_id) == "KE"
    service.transact(set_limits, service.account_id, destinations=("254",), pumping="block")
    assert code(sandbox.send("4915112345678")) == "destination_not_allowed"
    assert sandbox.get("/limits").json["pumping_guard"] == "off"
    service.transact(set_cap, service.account_id, "marketing", (2, 24))
    sent = sandbox.send(category="marketing").json["send_id"]
    assert sandbox.get(f"/sends/{sent}").json["cap"] == {"messages": 2, "hours": 24}
    service.transact(suspend_account, service.account_id)
    assert code(sandbox.get("/balance")) == "account_suspended"
    service.transact(activate_account, service.account_id)
    assert sandbox.get("/balance").status_code == 200
    assert set(service.transact(freeze_accounts, [service.account_id])) == {service.account_id, sandbox.account_id}
    service.transact(activate_account, service.account_id)
    assert service.transact(freeze_accounts, [sandbox.account_id]) == [sandbox.account_id]
    assert service.get("/balance").status_code == 200


def test_a_new_sandbox_has_the_settings_of_verifications_of_its_account(service: Service) -> None:
    settings = {"max_sends": 2}
    service.transact(change_account, service.account_id, {"verification": settings})
    assert of_account(service, "verification", service.in_sandbox().account_id) == settings


def test_no_send_of_a_sandbox_goes_through_a_live_carrier_whatever_its_row_says(
    service: Service, tmp_path: Path
) -> None:
    carriers = tmp_path / "carriers.toml"
    carriers.write_text('[carrier.live]\nkind = "simulator"\nreceipt_delay = 0\n')
    service = Service(service.engine, carriers_file=str(carriers))
    sandbox = service.in_sandbox()
    sends = [each.send(PHONE, send_at=ahead()).json["send_id"] for each in (sandbox, service)]
    service.execute("UPDATE send SET test = false, send_at = now() WHERE id = ANY(CAST(:ids AS uuid[]))", ids=sends)
    service.execute("UPDATE batch SET due_at = now() WHERE send_id = ANY(CAST(:ids AS uuid[]))", ids=sends)
    service.sweep()
    carrier = text("SELECT m.carrier FROM message m JOIN batch b ON b.id = batch_of(m.id) WHERE b.send_id = :send")
    used = [service.scalar(carrier, send=send) for send in sends]
    assert used == ["simulator", "live"]
    assert [breach.rule for breach in audit(service.engine, full=True)] == ["worlds"]


@pytest.mark.usefixtures("no_refill")
def test_test_keys_have_a_request_limit_of_their_own(engine: Engine) -> None:
    service = Service(engine, sandbox_requests_per_second=3)
    sandbox = service.in_sandbox()
    responses = [sandbox.get("/limits") for _ in range(8)]
    assert {response.status_code for response in responses} == {200, 429}
    assert responses[0].json["requests_per_second"] == 3
    assert {service.get("/limits").status_code for _ in range(8)} == {200}


def test_a_sandbox_and_its_account_have_shares_of_their_own(service: Service) -> None:
    owner_of = Owners(service.flask.extensions["bulksms"])
    ann = a_person(service, service.account_id)
    sandbox = service.in_sandbox()

    def owner(token: str) -> object:
        return owner_of(
            {"PATH_INFO": "/api/v1/balance", "HTTP_AUTHORIZATION": f"Bearer {token}", "REMOTE_ADDR": "198.51.100.7"}
        )

    assert (owner(service.token), owner(sandbox.token)) == (service.account_id, sandbox.account_id)
    tokens_of_ann = [ann.token(service.account_id, test=test) for test in (False, True)]
    assert [owner(each) for each in tokens_of_ann] == [service.account_id, sandbox.account_id]


def test_an_account_manages_the_test_keys_and_a_test_key_only_these(service: Service) -> None:
    key = service.post("/api-keys", test=True).json
    assert key["api_key"].startswith("smsk_test_")
    assert set(key["scopes"]) == set(DEFAULT_SCOPES)
    sandbox = service.in_sandbox()
    listed = {each["api_key"] for each in sandbox.get("/api-keys").json["data"]}
    assert key["api_key"] in listed and all(each.startswith("smsk_test_") for each in listed)
    live = [each["api_key"] for each in service.get("/api-keys").json["data"] if not each["test"]]
    assert len(live) == 1 and listed < {each["api_key"] for each in service.get("/api-keys").json["data"]}
    assert code(sandbox.post("/api-keys", test=False)) == "insufficient_scope"
    assert code(sandbox.post(f"/api-keys/{live[0]}/rotate")) == "api_key_not_found"
    assert code(sandbox.delete(f"/api-keys/{live[0]}")) == "api_key_not_found"
    assert service.post(f"/api-keys/{key['api_key']}/rotate").status_code == 200
    assert service.delete(f"/api-keys/{key['api_key']}").status_code == 200


def test_the_maximum_of_test_keys_leaves_room_for_live_ones(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.resources.api_keys.routes.MAX_KEYS", 2)
    sandbox = service.in_sandbox()
    assert [sandbox.post("/api-keys").status_code for _ in range(2)] == [200, 409]
    assert [service.post("/api-keys").status_code for _ in range(2)] == [200, 409]


def test_a_live_webhook_gets_no_events_of_the_sandbox(service: Service) -> None:
    sandbox = service.in_sandbox()
    service.post("/webhooks", url="https://live.example.com/hook")
    sandbox.post("/webhooks", url="https://sandbox.example.com/hook")
    sandbox.send(PHONE)
    sandbox.deliver_receipts()
    types = [{each["type"] for each in settled_events(side)} for side in (service, sandbox)]
    assert types[0] == set() and "message.delivered" in types[1]


def test_a_new_sandbox_has_nothing_of_another_account(service: Service) -> None:
    other = service.new_account("other")
    with service.engine.begin() as connection:
        set_limits(connection, other, requests_per_second=7)
        set_cap(connection, other, "marketing", (1, 24))
        set_limits(connection, service.account_id, requests_per_second=9)
    service.approve(other, "THEIRS")
    sandbox = service.in_sandbox()
    rows = "SELECT requests_per_second FROM account_limit WHERE account_id = :id"
    assert service.scalars(rows, id=sandbox.account_id) == [9]
    assert service.scalar("SELECT count(*) FROM category_rule WHERE account_id = :id", id=sandbox.account_id) == 0
    assert service.scalars("SELECT sender_id FROM sender_id WHERE account_id = :id", id=sandbox.account_id) == ["ACME"]
