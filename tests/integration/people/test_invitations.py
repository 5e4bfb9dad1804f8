"""Invitations by link: accepted once, by the right person, for what they offer."""

import threading
from typing import Any

import pytest
from sqlalchemy import text

from shared.accounts.administration import create_key, revoke_key
from shared.accounts.audit_log import Actor
from shared.people.invitations import accept, invite
from shared.people.memberships import end_membership, find_member
from shared.people.persons import create_person, disable_person, set_operator_role
from shared.people.random_secrets import new_secret
from shared.people.retention import release_email
from shared.people.second_factor import code_at
from shared.scopes import SCOPES
from tests.harness.database import wait_until_somebody_waits
from tests.harness.people import PASSWORD, a_person, open_call, sign_in
from tests.harness.service import PREFIX, SECRET_KEY, Service
from tests.harness.threads import join_all
from tests.integration.people.test_second_factor import enable, now


def invited(service: Service, email: str, role: str = "sender", **more: Any) -> str:
    response = service.post("/invitations", email=email, role=role, **more)
    assert response.status_code == 200, response.text
    return str(response.json["token"])


def accepted(service: Service, token: str, **more: Any) -> Any:
    return open_call(service, "/invitations/accept", token=token, **{"password": PASSWORD, **more})


def test_it_works(service: Service) -> None:
    token = invited(service, "New@Example.com")
    preview = open_call(service, "/invitations/preview", token=token).json
    assert {**preview, "expires_at": None, "account_name": None} == {
        "email": "new@example.com",
        "account_name": None,
        "role": "sender",
        "operator_role": None,
        "expires_at": None,
    }
    assert preview["account_name"].startswith("acme")
    response = accepted(service, token, name="Newly Hired")
    assert response.status_code == 200
    assert [(each["account_id"], each["role"]) for each in response.json["accounts"]] == [
        (service.account_id, "sender")
    ]
    assert response.json["person"]["name"] == "Newly Hired"
    assert sign_in(service, "new@example.com").status_code == 200
    assert accepted(service, token, name="Newly Hired").json["code"] == "invalid_link"
    assert open_call(service, "/invitations/preview", token=token).json["code"] == "invalid_link"


def test_a_person_who_is_known_accepts_with_their_own_password(service: Service) -> None:
    ann = a_person(service, service.new_account("other"), "owner")
    token = invited(service, ann.email, "viewer")
    assert accepted(service, token, password="somebody else's password").json["code"] == "invalid_credentials"
    response = accepted(service, token)
    assert sorted(each["role"] for each in response.json["accounts"]) == ["owner", "viewer"]
    assert response.json["person"]["name"] == "Ann Otieno"


def test_their_second_factor_is_asked_for(service: Service) -> None:
    ann = a_person(service)
    secret, _ = enable(ann)
    token = invited(service, ann.email)
    assert accepted(service, token).json["code"] == "code_required"
    assert accepted(service, token, code="000000").json["code"] == "invalid_code"
    assert accepted(service, token, code=code_at(secret, now())).status_code == 200


def test_a_disabled_person_does_not_accept(service: Service) -> None:
    ann = a_person(service)
    token = invited(service, ann.email)
    service.transact(disable_person, ann.email)
    assert accepted(service, token).json["code"] == "invalid_credentials"


def test_only_one_of_two_transactions_accepts(service: Service) -> None:
    """Both have seen the invitation open before either has accepted it."""
    ann, bob = a_person(service), a_person(service)
    token, second = invited(service, ann.email), list[bool]()

    def accept_too() -> None:
        second.append(service.transact(accept, token, bob.id, by=Actor("person")))

    other = threading.Thread(target=accept_too)
    with service.engine.begin() as connection:
        assert accept(connection, token, ann.id, by=Actor("person"))
        other.start()
        wait_until_somebody_waits(service.engine)
        assert second == []
    join_all(other)
    assert second == [False]
    assert bob.get("/me").json["accounts"] == []


def test_an_invitation_does_not_reveal_who_has_signed_up(service: Service) -> None:
    """The token of the invitation is theirs, too: neither the preview nor a refusal differs."""
    known = a_person(service, service.new_account("other"), "owner").email
    seen = []
    for email in (known, "unknown@example.com"):
        token = invited(service, email)
        preview = open_call(service, "/invitations/preview", token=token).json
        tried = [
            accepted(service, token, **{"password": "not the password", **more})
            for more in ({}, {"code": "000000"}, {"name": "A", "password": "short"}, {"name": "A", "password": email})
        ]
        refusals = [(each.status_code, {**each.json, "request_id": None}) for each in tried]
        seen.append((preview | {"email": None, "expires_at": None}, refusals))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "spoiled", ["expired", "revoked", "replaced", "inviter removed", "inviter demoted", "inviter disabled"]
)
def test_an_invitation_that_is_no_longer_open_is_refused(service: Service, spoiled: str) -> None:
    a_person(service, service.account_id, "owner")
    owner = a_person(service, service.account_id, "owner")
    email = f"{spoiled.replace(' ', '-')}@example.com"
    token = invited(service, email, token=owner.token(service.account_id))
    found = service.get("/invitations").json["data"]
    invitation = next(each for each in found if each["email"] == email)
    assert "token" not in invitation
    if spoiled == "expired":
        service.execute("UPDATE invitation SET expires_at = now() - interval '1 second'")
    elif spoiled == "revoked":
        path = f"/invitations/{invitation['invitation_id']}"
        assert service.delete(path).json["revoked"] is True
        assert service.delete(path).json["code"] == "invitation_not_found"
    elif spoiled == "replaced":
        invited(service, email)
    elif spoiled == "inviter removed":
        assert service.delete(f"/people/{owner.id}").status_code == 200
    elif spoiled == "inviter disabled":
        service.transact(disable_person, owner.email)
    else:
        assert service.patch(f"/people/{owner.id}", role="sender").status_code == 200
    assert accepted(service, token, name="Late").json["code"] == "invalid_link"
    open_ids = [each["invitation_id"] for each in service.get("/invitations").json["data"]]
    assert invitation["invitation_id"] not in open_ids


def test_a_member_who_accepts_an_invitation_keeps_their_role(service: Service) -> None:
    ann = a_person(service)
    token = invited(service, ann.email, "viewer")
    operator = a_person(service, service.account_id, "owner")
    again = service.post("/invitations", email=operator.email, role="viewer")
    assert (again.status_code, again.json["code"]) == (409, "state_conflict")
    assert accepted(service, token).status_code == 200
    service.execute("UPDATE membership SET role = 'owner' WHERE person_id = :id", id=ann.id)
    service.execute("UPDATE invitation SET ended_at = NULL")
    assert accepted(service, token).json["accounts"][0]["role"] == "owner"


def test_a_removed_member_cannot_come_back_by_an_invitation_made_while_they_accepted_another(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    email, another = "removed@example.com", service.new_account("another")
    first = service.transact(invite, email, service.account_id, "viewer")
    person = service.transact(create_person, email, "Removed")
    elsewhere = service.transact(invite, email, another, "viewer")

    def accept_meanwhile(kind: Any) -> Any:
        assert service.transact(accept, first.token, person, by=Actor("Removed"))
        return new_secret(kind)

    with service.engine.begin() as connection, monkeypatch.context() as patch:
        patch.setattr("shared.people.invitations.new_secret", accept_meanwhile)
        second = invite(connection, email, service.account_id, "owner")
    assert service.transact(end_membership, service.account_id, person)
    assert service.transact(accept, second.token, person, by=Actor("Removed")) is False
    assert service.transact(find_member, service.account_id, person) is None
    assert service.transact(accept, elsewhere.token, person, by=Actor("Removed")) is True


def test_who_is_erased_cannot_come_back_by_an_invitation_made_before(service: Service) -> None:
    ann, other = a_person(service), a_person(service)
    tokens = [service.transact(invite, ann.email, None, None, "admin").token, invited(service, ann.email)]
    others = invited(service, other.email)
    service.transact(release_email, ann.email)
    assert [accepted(service, each, name="Ann").json["code"] for each in tokens] == ["invalid_link"] * 2
    assert accepted(service, others).status_code == 200
    again = invited(service, ann.email)
    assert accepted(service, again, name="Ann").status_code == 200


@pytest.mark.parametrize(("before", "role"), [("admin", None), ("admin", "support"), (None, None)])
def test_an_operator_role_that_was_taken_does_not_come_by_an_invitation(
    service: Service, before: str | None, role: str | None
) -> None:
    ann, other = a_person(service, operator_role=before), a_person(service)
    token, others = (service.transact(invite, each.email, None, None, "admin").token for each in (ann, other))
    to_account = invited(service, ann.email)
    service.transact(set_operator_role, ann.id, role)
    assert accepted(service, token).json["code"] == "invalid_link"
    assert accepted(service, to_account).json["person"]["operator_role"] == role
    assert accepted(service, others).json["person"]["operator_role"] == "admin"


def test_neither_token_nor_email_is_in_the_audit_log_and_tokens_are_hashed(service: Service) -> None:
    email = "private@example.com"
    token = invited(service, email)
    accepted(service, token, name="Private Person")
    log = str(service.scalar("SELECT string_agg(c::text, ' ') FROM audit_log c"))
    rows = str(service.scalar("SELECT string_agg(i::text, ' ') FROM invitation i"))
    stored = str(service.scalar("SELECT string_agg(i::text, ' ') FROM idempotency i"))
    assert email not in log and "Private Person" not in log
    assert token not in log + rows + stored


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_an_invitation_ends_with_the_key_that_made_it(service: Service, end: str) -> None:
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=list(SCOPES))
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    issued = service.client.post(f"{PREFIX}/auth/token", json=body).json["access_token"]
    made = service.post("/invitations", token=issued, email="leak@example.com", role="owner").json["token"]
    assert open_call(service, "/invitations/preview", token=made).status_code == 200
    with service.engine.begin() as connection:
        if end == "revoked":
            revoke_key(connection, key.api_key)
        else:
            expire = "UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = :id"
            connection.execute(text(expire), {"id": key.api_key})
    assert accepted(service, made, name="Mole").json["code"] == "invalid_link"
    assert service.get("/invitations").json["data"] == []


def test_a_key_cannot_replace_an_invitation_to_more_than_it_has(service: Service) -> None:
    scopes = [scope for scope in SCOPES if scope.endswith(":read") or scope == "people:write"]
    owners = a_person(service, service.account_id, "owner").token(service.account_id)
    made = service.post("/invitations", token=owners, email="ceo@example.com", role="owner").json["token"]
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=scopes)
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    weak = service.client.post(f"{PREFIX}/auth/token", json=body).json["access_token"]
    assert service.post("/invitations", token=weak, email="other@example.com", role="viewer").status_code == 200
    refused = service.post("/invitations", token=weak, email="ceo@example.com", role="viewer")
    assert (refused.status_code, refused.json["code"]) == (403, "insufficient_scope")
    assert open_call(service, "/invitations/preview", token=made).json["role"] == "owner"
