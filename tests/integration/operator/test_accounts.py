"""Accounts, credits, keys, limits and rules by the operator API."""

from typing import Any

import pytest
from sqlalchemy import text

from api.resources.api_keys import routes
from shared.audit.check import audit
from tests.harness.operator import OperatorClient
from tests.harness.pages import every
from tests.harness.service import Service
from tests.harness.times import ahead

UNKNOWN = "01900000-0000-7000-8000-000000000000"


def account_of(operator: OperatorClient, name: str) -> dict[str, Any]:
    response = operator.post("/accounts", name=name)
    assert response.status_code == 200, response.text
    return dict(response.json)


def changes(operator: OperatorClient, account_id: int) -> list[dict[str, Any]]:
    return list(operator.get(f"/changes?account_id={account_id}").json["data"])


def clean(service: Service) -> None:
    assert audit(service.engine, full=True) == []


def test_it_works(service: Service, operator: OperatorClient) -> None:
    wanted = {"name": "shop", "country": "KE", "weight": 2, "authentication": True}
    made = operator.post("/accounts", key="order-1", **wanted).json
    assert (made["name"], made["status"], made["balance"], made["country"], made["weight"]) == (
        "shop",
        "active",
        0,
        "KE",
        2,
    )
    assert (
        operator.post("/accounts", key="order-1", name="shop", country="KE", weight=2, authentication=True).json == made
    )
    assert operator.get(f"/accounts/{made['account_id']}").json == made
    assert {each["actor"] for each in changes(operator, made["account_id"])} == {operator.actor}


def test_accounts_are_searched_and_paged(service: Service, operator: OperatorClient) -> None:
    ids = [account_of(operator, f"Paged_{number}%")["account_id"] for number in range(3)]
    assert [each["account_id"] for each in every(operator.get, "/accounts?search=pAGED_&limit=2")] == ids
    assert [each["account_id"] for each in operator.get(f"/accounts?search={ids[1]}").json["data"]] == [ids[1]]
    assert [each["account_id"] for each in operator.get("/accounts?search=Paged_1%25").json["data"]] == [ids[1]]
    assert operator.get("/accounts?search=Paged%25&status=suspended").json["data"] == []


def test_todays_traffic_is_counted(service: Service, operator: OperatorClient) -> None:
    counted = text(
        """
        INSERT INTO usage (account_id, began_at, sender_id, lane, country, status, messages, credits)
        VALUES (:account, date_trunc('day', now(), 'UTC'), 'ACME', 1, 'KE', 'delivered', 5, 6),
               (:account, date_trunc('day', now(), 'UTC'), 'ACME', 1, 'KE', 'failed', 2, 0),
               (:account, date_trunc('day', now(), 'UTC') - interval '1 hour', 'ACME', 1, 'KE', 'delivered', 9, 9)
        """
    )
    service.execute(counted, account=service.account_id)
    shown = operator.get(f"/accounts/{service.account_id}").json
    today = [shown[f"{name}_today"] for name in ("messages", "delivered", "failed", "credits")]
    assert today == [7, 5, 2, 6]
    assert operator.get(f"/accounts?search={service.account_id}&limit=1000").json["data"][0]["messages_today"] == 7


def test_settings_are_changed(service: Service, operator: OperatorClient) -> None:
    made = account_of(operator, "changed")
    path = f"/accounts/{made['account_id']}"
    changed = operator.patch(path, name="renamed", weight=3, authentication=True, reason="new contract").json
    assert (changed["name"], changed["weight"], changed["authentication"]) == ("renamed", 3, True)
    assert operator.patch(path, retention_days=None, country="UG").json["country"] == "UG"
    taken_name = service_name(service, operator)
    for taken in (operator.patch(path, name=taken_name), operator.post("/accounts", name=taken_name)):
        assert (taken.status_code, taken.json["code"]) == (409, "name_taken")
    assert operator.patch(path, name="renamed").status_code == 200
    logged = changes(operator, made["account_id"])
    expected = {("account.changed", "new contract"), ("account.authentication_set", "new contract")}
    assert expected <= {(each["action"], each["reason"]) for each in logged}


def service_name(service: Service, operator: OperatorClient) -> str:
    return str(operator.get(f"/accounts/{service.account_id}").json["name"])


def test_an_account_is_suspended_with_a_reason_and_activated_again(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}"
    assert operator.post(f"{path}/suspend").status_code == 400
    assert operator.post(f"{path}/suspend", reason="unpaid").json["status"] == "suspended"
    assert service.send().json["code"] == "account_suspended"
    assert operator.post(f"{path}/activate").json["status"] == "active"
    assert service.send().status_code == 200


def test_an_account_is_closed_for_good(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}"
    send = service.send(send_at=ahead()).json["send_id"]
    refused = operator.post(f"{path}/close", reason="the contract ended")
    assert (refused.status_code, refused.json["code"]) == (409, "state_conflict")
    assert "open sends: 1" in refused.json["detail"]
    service.post(f"/sends/{send}/cancel")
    assert operator.post(f"{path}/close", reason="the contract ended").json["status"] == "closed"
    assert service.send().status_code in (401, 403)
    for action, body in (("activate", {}), ("suspend", {"reason": "x"})):
        assert operator.post(f"{path}/{action}", **body).json["code"] == "state_conflict"
    assert operator.post(f"{path}/api-keys").json["code"] == "state_conflict"
    assert operator.post(f"{path}/top-ups", credits=1, reason="x").json["code"] == "state_conflict"
    assert operator.get(f"{path}/api-keys").json["data"] == []
    assert operator.post(f"{path}/close", reason="again").status_code == 200
    assert len([each for each in changes(operator, service.account_id) if each["action"] == "account.closed"]) == 1
    clean(service)


def test_a_top_up_is_made_once(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}/top-ups"
    first = operator.post(path, key="invoice-7", credits=500, reason="invoice 7")
    assert (first.json["credits"], first.json["balance"]) == (500, 1500)
    again = operator.post(path, key="invoice-7", credits=500, reason="invoice 7")
    assert again.json == first.json and again.headers["Idempotency-Replayed"] == "true"
    assert (
        operator.post(path, key="invoice-7", credits=501, reason="invoice 7").json["code"] == "idempotency_key_reused"
    )
    # As after its days have passed.
    service.execute("DELETE FROM idempotency")
    forgotten = operator.post(path, key="invoice-7", credits=500, reason="invoice 7").json
    assert forgotten["top_up_id"] == first.json["top_up_id"]
    assert service.get("/balance").json["balance"] == 1500
    assert operator.post(path, credits=500).status_code == 400
    logged = [each for each in changes(operator, service.account_id) if each["action"] == "account.topped_up"]
    assert [(each["actor"], each["reason"]) for each in logged if each["actor"] == operator.actor] == [
        (operator.actor, "invoice 7")
    ]
    clean(service)


def test_a_top_up_is_reversed_once_and_only_of_its_account(service: Service, operator: OperatorClient) -> None:
    path, other = f"/accounts/{service.account_id}/top-ups", service.new_account("other")
    top_up = operator.post(path, credits=300, reason="a mistake").json["top_up_id"]
    foreign = operator.post(f"/accounts/{other}/top-ups/{top_up}/reverse", credits=300, reason="a mistake")
    assert (foreign.status_code, foreign.json["code"]) == (404, "not_found")
    assert operator.post(f"{path}/{top_up}/reverse", credits=301, reason="too much").json["code"] == "state_conflict"
    reversed_ = operator.post(f"{path}/{top_up}/reverse", credits=200, reason="a mistake").json
    assert (reversed_["reversed"], reversed_["balance"]) == (200, 1100)
    assert operator.post(f"{path}/{top_up}/reverse", credits=100, reason="more").json["code"] == "state_conflict"
    listed = operator.get(f"{path}?limit=1").json
    assert (listed["data"][0]["top_up_id"], listed["data"][0]["reversed"]) == (top_up, 200)
    following = operator.get(f"{path}?limit=1&cursor={listed['next_cursor']}").json
    assert [each["credits"] for each in following["data"]] == [1000]
    clean(service)


def test_an_adjustment_is_made_once_in_either_direction(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}/adjustments"
    first = operator.post(path, key="ticket-7", credits=-300, reason="wrong price").json
    assert (first["credits"], first["balance"]) == (-300, 700)
    # As after its days have passed.
    service.execute("DELETE FROM idempotency")
    again = operator.post(path, key="ticket-7", credits=-300, reason="wrong price").json
    assert again["adjustment_id"] == first["adjustment_id"] and service.get("/balance").json["balance"] == 700
    assert operator.post(path, credits=50, reason="goodwill").json["balance"] == 750
    for credits, code in ((-751, "state_conflict"), (0, "validation_failed"), (10**13, "validation_failed")):
        assert operator.post(path, credits=credits, reason="x").json["code"] == code
    newest = service.get("/balance/transactions?limit=2").json["data"]
    assert [(each["kind"], each["debit"], each["credit"], each["amount"], each["reason"]) for each in newest] == [
        ("adjustment", "funding", "available", 50, "goodwill"),
        ("adjustment", "available", "funding", 300, "wrong price"),
    ]
    assert operator.actor not in str(newest)
    logged = [each for each in changes(operator, service.account_id) if each["action"] == "account.adjusted"]
    assert [(each["actor"], each["reason"]) for each in logged] == [
        (operator.actor, "goodwill"),
        (operator.actor, "wrong price"),
    ]
    clean(service)


def test_an_account_sends_on_credit_up_to_its_limit(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}"
    operator.post(f"{path}/adjustments", credits=-999, reason="almost nothing is left")
    assert operator.patch(path, credit_limit=2, reason="a contract").json["balance"] == 3
    sent = service.send(message="x" * 200, send_at=ahead()).json
    assert sent["balance"] == 1
    shown = service.get("/balance").json
    assert [shown[name] for name in ("balance", "available", "credit_limit", "reserved")] == [1, -1, 2, 2]
    for refused in (
        service.send(message="x" * 200),
        service.bulk(["254711000001", "254711000002"]),
        service.patch(f"/sends/{sent['send_id']}", message="x" * 500),
    ):
        assert (refused.status_code, refused.json["code"], refused.json["balance"]) == (402, "low_balance", 1)
    assert "1 is left" in service.send(message="x" * 200).json["detail"]
    assert operator.patch(path, credit_limit=0).json["balance"] == -1
    assert "0 are left" in service.send().json["detail"]
    service.post(f"/sends/{sent['send_id']}/cancel")
    assert service.send().status_code == 200
    assert service.get("/balance").json["balance"] == 0
    assert service.in_sandbox().get("/balance").json["credit_limit"] == 0
    clean(service)


def test_a_credit_limit_needs_the_scope_for_money(service: Service, operator: OperatorClient) -> None:
    clerk = OperatorClient(service, "read", "accounts")
    path = f"/accounts/{service.account_id}"
    for refused in (clerk.patch(path, credit_limit=5), clerk.post("/accounts", name="rich", credit_limit=5)):
        assert (refused.status_code, refused.json["scope"]) == (403, "money")
    assert clerk.patch(path, spend_threshold=5).json["spend_threshold"] == 5
    made = operator.post("/accounts", name="trusted", credit_limit=5, spend_threshold=7).json
    assert (made["balance"], made["credit_limit"], made["spend_threshold"]) == (5, 5, 7)


def test_a_message_is_refunded_once(service: Service, operator: OperatorClient) -> None:
    sent = service.send(message="x" * 200).json
    path = f"/accounts/{service.account_id}/messages/{sent['message_id']}/refund"
    assert service.get("/balance").json["balance"] == 998
    stranger = service.new_account("stranger")
    assert operator.post(path.replace(f"/{service.account_id}/", f"/{stranger}/"), reason="x").status_code == 404
    refunded = operator.post(path, reason="not delivered").json
    assert (refunded["credits"], refunded["balance"]) == (2, 1000)
    assert operator.post(path, reason="again").json["code"] == "state_conflict"
    nothing = operator.post(f"/accounts/{service.account_id}/sends/{sent['send_id']}/refund", reason="x")
    assert nothing.json["code"] == "state_conflict"
    assert service.get("/balance/transactions").json["data"][0]["kind"] == "refund"
    clean(service)


def test_a_send_is_refunded_as_far_as_it_was_charged(service: Service, operator: OperatorClient) -> None:
    sent = service.bulk([f"2547110000{number:02}" for number in range(20)] + ["99902000001"]).json
    account = f"/accounts/{service.account_id}"
    first = next(each["message_id"] for each in sent["messages"])
    assert operator.post(f"{account}/messages/{first}/refund", reason="x").json["credits"] == 1
    refunded = operator.post(f"{account}/sends/{sent['send_id']}/refund", key="ticket-9", reason="ticket 9").json
    assert (refunded["credits"], refunded["balance"]) == (19, 1000)
    again = operator.post(f"{account}/sends/{sent['send_id']}/refund", key="ticket-9", reason="ticket 9").json
    assert again == refunded
    for message in sent["messages"]:
        response = operator.post(f"{account}/messages/{message['message_id']}/refund", reason="x")
        assert response.json["code"] == "state_conflict"
    assert service.get("/balance").json["balance"] == 1000
    clean(service)


def test_what_is_not_charged_is_not_refunded(service: Service, operator: OperatorClient) -> None:
    sent = service.send(send_at=ahead()).json
    account = f"/accounts/{service.account_id}"
    for path in (f"messages/{sent['message_id']}", f"sends/{sent['send_id']}"):
        response = operator.post(f"{account}/{path}/refund", reason="x")
        assert (response.status_code, response.json["code"]) == (409, "state_conflict")
    assert operator.post(f"{account}/sends/{UNKNOWN}/refund", reason="x").status_code == 404
    clean(service)


def test_keys_are_made_for_an_account_and_revoked(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}/api-keys"
    made = operator.post(path, key="onboarding", name="shop", scopes=["sms:send", "balance:read"])
    secret = made.json["api_secret"]
    replayed = operator.post(path, key="onboarding", name="shop", scopes=["sms:send", "balance:read"])
    assert replayed.json["api_key"] == made.json["api_key"] and "api_secret" not in replayed.json
    key = {"api_key": made.json["api_key"], "api_secret": secret}
    token = service.client.post("/api/v1/auth/token", json=key).json["access_token"]
    assert service.get("/balance", token=token).status_code == 200
    assert made.json["api_key"] in {each["api_key"] for each in operator.get(f"{path}?limit=1000").json["data"]}
    stranger = service.new_account("stranger")
    foreign = operator.delete(f"/accounts/{stranger}/api-keys/{key['api_key']}")
    assert foreign.status_code == 404
    assert service.get("/balance", token=token).status_code == 200
    assert operator.delete(f"{path}/{key['api_key']}").json == {"api_key": key["api_key"], "revoked": True}
    assert service.get("/balance", token=token).json["code"] == "token_revoked"
    assert operator.delete(f"{path}/{key['api_key']}").status_code == 404
    stored = service.scalar("SELECT string_agg(response, ' ') FROM idempotency")
    assert secret not in str(stored)
    test_key = operator.post(path, test=True).json
    assert test_key["test"] and test_key["api_key"].startswith("smsk_test_")


def test_an_account_has_a_maximum_of_keys(
    service: Service, operator: OperatorClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/accounts/{service.account_id}/api-keys"
    monkeypatch.setattr(routes, "MAX_KEYS", len(operator.get(path).json["data"]) + 1)
    assert operator.post(path, scopes=["sms:send"]).status_code == 200
    before = operator.get(path).json
    refused = operator.post(path, scopes=["sms:send"])
    assert (refused.status_code, refused.json["code"]) == (409, "state_conflict")
    assert operator.get(path).json == before


def test_limits_and_rules(service: Service, operator: OperatorClient) -> None:
    path = f"/accounts/{service.account_id}/limits"
    assert operator.get(path).json["requests_per_second"] is None
    changed = operator.patch(path, spend_day=2, destinations=["KE", "2567"], pumping="watch", reason="trial").json
    assert (changed["spend_day"], changed["destinations"], changed["spent_of_day"]) == (2, ["254", "2567"], 0)
    assert service.send("4915711000000").json["code"] == "destination_not_allowed"
    refused = operator.patch(path, destinations=["US"])
    assert (refused.status_code, refused.json["errors"][0]["pointer"]) == (400, "/destinations")
    assert operator.patch(path, reason="nothing").status_code == 400
    assert operator.patch(path, spend_day=None, destinations=None).json["destinations"] is None
    rules = f"/accounts/{service.account_id}/rules"
    quiet = operator.patch(f"{rules}/marketing", quiet_hours={"from": "21:00", "until": "08:00"}).json
    assert quiet["quiet_hours"] == {"from": "21:00", "until": "08:00"}
    capped = operator.patch(f"{rules}/marketing", cap={"messages": 2, "hours": 24}).json
    assert (capped["cap"], capped["quiet_hours"]) == ({"messages": 2, "hours": 24}, quiet["quiet_hours"])
    removed = operator.patch(f"{rules}/marketing", quiet_hours=None, cap=None).json
    assert removed == {"category": "marketing", "quiet_hours": None, "cap": None}
    assert [each["category"] for each in operator.get(rules).json["data"]] == ["transactional", "marketing"]
    assert operator.patch(f"{rules}/authentication", cap=None).status_code == 404
