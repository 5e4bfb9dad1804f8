"""Tokens of people for accounts and for the operator API: their scopes, and when they end."""

import time

import pytest

from shared.accounts.administration import suspend_account
from shared.people.memberships import add_member, end_membership
from shared.people.persons import set_operator_role
from shared.people.roles import ROLE_SCOPES
from tests.harness.people import a_person
from tests.harness.service import PREFIX, Service


@pytest.mark.parametrize("role", ["owner", "sender", "viewer"])
@pytest.mark.parametrize("test", [False, True])
def test_a_token_has_the_scopes_of_the_role(service: Service, role: str, test: bool) -> None:
    ann = a_person(service, service.account_id, role)
    response = ann.post("/me/token", account_id=service.account_id, test=test)
    assert response.status_code == 200
    scopes = {each for each in ROLE_SCOPES[role] if not (test and each.startswith("people:"))}
    assert response.json["scope"].split() == sorted(scopes)
    fields = {name: response.json[name] for name in ("token_type", "expires_in", "role", "account_id", "test")}
    assert fields == {
        "token_type": "Bearer",
        "expires_in": 600,
        "role": role,
        "account_id": service.account_id,
        "test": test,
    }
    assert service.get("/balance", token=response.json["access_token"]).json["balance"] == (1_000_000 if test else 1000)
    sent = service.send(token=response.json["access_token"])
    assert (sent.status_code, sent.json.get("test")) == ((403, None) if role == "viewer" else (200, test))


def test_a_member_of_only_the_sandbox_gets_no_live_token(service: Service) -> None:
    sandbox = service.in_sandbox()
    ann = a_person(service, sandbox.account_id, "owner")
    response = ann.post("/me/token", account_id=sandbox.account_id)
    assert response.json["test"] is True
    assert service.get("/balance", token=response.json["access_token"]).json["balance"] == 1_000_000
    assert ann.post("/me/token", account_id=service.account_id).status_code == 404
    service.transact(end_membership, service.account_id, ann.id)
    service.transact(add_member, sandbox.account_id, a_person(service).id, "owner")
    service.transact(end_membership, sandbox.account_id, ann.id)
    service.reload_limits()
    assert service.get("/balance", token=response.json["access_token"]).json["code"] == "token_revoked"


def test_a_token_lasts_ten_minutes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr("api.auth.tokens.time.time", lambda: now)
    token = a_person_token(service)
    monkeypatch.setattr("api.auth.tokens.time.time", lambda: now + 599)
    assert service.get("/balance", token=token).status_code == 200
    monkeypatch.setattr("api.auth.tokens.time.time", lambda: now + 601)
    refused = service.get("/balance", token=token)
    assert refused.json["code"] == "token_expired" and "10 minutes" in refused.json["detail"]


def a_person_token(service: Service, role: str = "owner") -> str:
    return a_person(service, service.account_id, role).token(service.account_id)


def test_the_end_of_a_session_ends_its_tokens_and_no_others(service: Service) -> None:
    ann, bob = (a_person(service, service.account_id, "sender") for _ in range(2))
    mine, his = ann.token(service.account_id), bob.token(service.account_id)
    ann.post("/me/sign-out")
    assert service.get("/balance", token=mine).json["code"] == "token_revoked"
    assert service.send(token=mine).json["code"] == "token_revoked"
    assert service.get("/balance", token=his).status_code == 200


@pytest.mark.parametrize("change", ["role", "removed"])
def test_a_change_of_the_role_ends_the_tokens_that_have_the_old_one(service: Service, change: str) -> None:
    owner = a_person_token(service)
    ann = a_person(service, service.account_id, "sender")
    other = service.new_account("other")
    service.transact(add_member, other, ann.id, "viewer")
    before, elsewhere = ann.token(service.account_id), ann.token(other)
    if change == "role":
        assert service.patch(f"/people/{ann.id}", token=owner, role="viewer").json["role"] == "viewer"
    else:
        assert service.delete(f"/people/{ann.id}", token=owner).json["removed"] is True
    assert service.get("/balance", token=before).json["code"] == "token_revoked"
    assert service.get("/balance", token=elsewhere).status_code == 200
    if change == "role":
        assert service.get("/balance", token=ann.token(service.account_id)).status_code == 200
    else:
        assert ann.post("/me/token", account_id=service.account_id).status_code == 404


def test_a_suspended_account_gives_no_token_and_is_said_to_be_suspended(service: Service) -> None:
    ann = a_person(service, service.account_id)
    assert [each["status"] for each in ann.get("/me").json["accounts"]] == ["active"]
    service.transact(suspend_account, service.account_id, "unpaid")
    assert ann.post("/me/token", account_id=service.account_id).json["code"] == "account_suspended"
    assert [each["status"] for each in ann.get("/me").json["accounts"]] == ["suspended"]


def test_a_repeated_request_is_answered_to_the_same_person_only(service: Service) -> None:
    ann, bob = (a_person(service, service.account_id, "sender") for _ in range(2))
    key = {"Idempotency-Key": "order-1"}
    first = service.post("/sms/send", token=ann.token(service.account_id), headers=key, **SEND)
    again = service.post("/sms/send", token=ann.token(service.account_id), headers=key, **SEND)
    assert first.status_code == again.status_code == 200
    assert again.json == first.json and again.headers["Idempotency-Replayed"] == "true"
    for token in (bob.token(service.account_id), service.token):
        assert service.post("/sms/send", token=token, headers=key, **SEND).json["code"] == "idempotency_key_reused"


@pytest.mark.parametrize("test", [False, True])
def test_a_person_creates_keys_of_their_tokens_kind_live_or_test(service: Service, test: bool) -> None:
    token = a_person(service, service.account_id, "owner").token(service.account_id, test=test)
    assert service.post("/api-keys", token=token, scopes=["sms:read"]).json["test"] is test


SEND = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi"}


def test_the_keys_of_a_person_have_at_most_their_scopes(service: Service) -> None:
    owner = a_person_token(service)
    key = service.post("/api-keys", token=owner, scopes=["sms:send"]).json
    assert service.post(f"/api-keys/{key['api_key']}/rotate", token=owner).status_code == 200
    assert service.get("/api-keys", token=a_person_token(service, "sender")).status_code == 403


OPERATOR = "/operator/v1"


def test_operators_get_tokens_of_their_role(service: Service) -> None:
    admin, support = (a_person(service, operator_role=role) for role in ("admin", "support"))
    nobody = a_person(service, service.account_id, "owner")
    assert nobody.post("/me/operator-token").json["code"] == "not_an_operator"
    scopes = admin.post("/me/operator-token").json["scope"].split()
    assert {"money", "texts", "accounts", "read"} <= set(scopes)
    assert support.post("/me/operator-token").json["scope"] == "read"
    reason = "Ticket 4711: receipts are missing"
    assert support.post("/me/operator-token", reason="too short").status_code == 400
    assert support.post("/me/operator-token", reason=reason).json["scope"] == "read texts"
    found = service.execute("SELECT actor, reason FROM audit_log WHERE action = 'person.sees_texts'")
    assert [tuple(row) for row in found] == [(f"person {support.id}", reason)]


def test_an_operators_token_works_on_the_operator_api_only_and_ends_with_the_session(service: Service) -> None:
    admin = a_person(service, service.account_id, "owner", operator_role="admin")
    token = admin.post("/me/operator-token").json["access_token"]
    read = service.flask.extensions["bulksms"].operator_tokens.read
    assert read(f"Bearer {token}").actor == f"person {admin.id}"
    assert service.get("/balance", token=token).status_code == 401
    response = service.client.get(
        f"{OPERATOR}/accounts", headers={"Authorization": f"Bearer {admin.token(service.account_id)}"}
    )
    assert response.status_code in (401, 404)
    admin.post("/me/sign-out")
    with pytest.raises(Exception, match="token_revoked"):
        read(f"Bearer {token}")


def test_the_end_of_an_operator_role_ends_the_tokens(service: Service) -> None:
    admin = a_person(service, operator_role="admin")
    token = admin.post("/me/operator-token").json["access_token"]
    service.transact(set_operator_role, admin.id, "support")
    service.reload_limits()
    with pytest.raises(Exception, match="token_revoked"):
        service.flask.extensions["bulksms"].operator_tokens.read(f"Bearer {token}")


def test_an_owner_gives_no_operator_role(service: Service) -> None:
    owner = a_person_token(service)
    ann = a_person(service, service.account_id)
    for body in ({"role": "admin"}, {"role": "viewer", "operator_role": "admin"}, {"operator_role": "admin"}):
        assert service.patch(f"/people/{ann.id}", token=owner, **body).status_code == 400
        response = service.client.post(
            f"{PREFIX}/invitations",
            json={"email": "x@example.com", **body},
            headers={"Authorization": f"Bearer {owner}"},
        )
        assert response.status_code == 400
