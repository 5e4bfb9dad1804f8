"""Whoever was just removed, demoted or revoked makes nothing that lasts, although their token still passes elsewhere.

Each change here is made by another process, so the revocations in memory do not have it yet.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection

from api.app import create_app
from api.auth.still_valid import lock_caller
from shared.accounts.administration import create_key, revoke_key
from shared.accounts.api_keys import rotate_key
from shared.accounts.operator_keys import revoke_operator_key
from shared.api_key import make_key
from shared.db.connection import reading
from shared.people.memberships import change_role, end_membership
from shared.people.persons import disable_person, set_operator_role
from shared.people.sessions import end_session
from shared.scopes import SCOPES
from tests.harness.database import SOMEBODY_WAITS
from tests.harness.house import wait_until
from tests.harness.operator import OperatorClient
from tests.harness.people import Person, a_person
from tests.harness.service import PREFIX, SECRET_KEY, Service

ENDS: dict[str, Callable[[Connection, Service, Person], object]] = {
    "removed": lambda connection, service, ann: end_membership(connection, service.account_id, ann.id),
    "demoted": lambda connection, service, ann: change_role(connection, service.account_id, ann.id, "viewer"),
    "signed out": lambda connection, service, ann: end_session(connection, ann.id, ann.session_id),
    "disabled": lambda connection, service, ann: disable_person(connection, ann.email),
}


def refused_changes(service: Service, token: str) -> set[str]:
    """The codes of the responses to changes that make credentials or give rights."""
    bob = a_person(service, service.account_id, "viewer")
    key = service.transact(create_key, service.account_id, SECRET_KEY).api_key
    responses = (
        service.post("/invitations", token=token, email="new@example.com", role="owner"),
        service.patch(f"/people/{bob.id}", token=token, role="owner"),
        service.delete(f"/people/{bob.id}", token=token),
        service.post("/api-keys", token=token, scopes=["sms:send"]),
        service.post(f"/api-keys/{key}/rotate", token=token),
        service.delete(f"/api-keys/{key}", token=token),
    )
    return {response.json.get("code", "made") for response in responses}


@pytest.mark.parametrize("end", ENDS)
def test_a_person_whose_right_has_just_ended_changes_nothing(service: Service, end: str) -> None:
    a_person(service, service.account_id, "owner")
    ann = a_person(service, service.account_id, "owner")
    token = ann.token(service.account_id)
    assert service.get("/people", token=token).status_code == 200
    service.transact(ENDS[end], service, ann)
    assert refused_changes(service, token) == {"token_revoked"}


@pytest.mark.parametrize("end", ["revoked", "rotated"])
def test_a_key_that_has_just_ended_changes_nothing(service: Service, end: str) -> None:
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=list(SCOPES))
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    token = service.client.post(f"{PREFIX}/auth/token", json=body).json["access_token"]
    assert service.get("/people", token=token).status_code == 200
    if end == "revoked":
        service.transact(revoke_key, key.api_key)
    else:
        service.transact(rotate_key, service.account_id, key.api_key, make_key().api_secret, SECRET_KEY, 0)
    assert refused_changes(service, token) == {"token_revoked"}


@pytest.mark.parametrize("of", ["key", "person"])
def test_a_token_that_was_just_revoked_changes_nothing(service: Service, of: str) -> None:
    a_person(service, service.account_id, "owner")
    token = service.new_token(service.account_id)
    if of == "person":
        token = a_person(service, service.account_id, "owner").token(service.account_id)
    assert service.get("/people", token=token).status_code == 200
    other = create_app(service.settings, engine=service.api_engine, celery=service.celery).test_client()
    assert other.post(f"{PREFIX}/auth/revoke", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert refused_changes(service, token) == {"token_revoked"}


def test_a_token_is_not_revoked_in_the_middle_of_a_change(service: Service) -> None:
    """Whoever has revoked it then sees all that was made with it, and can take it back."""
    token = service.new_token(service.account_id)
    assert service.get("/balance", token=token).status_code == 200, "and the key's use is noted"
    caller = service.flask.extensions["bulksms"].tokens.parse(token)
    with service.engine.connect() as change, ThreadPoolExecutor(1) as threads, reading(service.engine) as other:
        lock_caller(change, caller)
        pending = threads.submit(service.post, "/auth/revoke", token=token)
        wait_until(lambda: pending.done() or other.execute(SOMEBODY_WAITS).scalar_one(), 60, "the revocation")
        assert not pending.done()
        change.commit()
        assert pending.result(120).status_code == 200


def test_a_key_still_rotates_and_revokes_itself(service: Service) -> None:
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=list(SCOPES))
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    token = service.client.post(f"{PREFIX}/auth/token", json=body).json["access_token"]
    assert "api_secret" in service.post(f"/api-keys/{key.api_key}/rotate", token=token).json
    assert service.delete(f"/api-keys/{key.api_key}", token=token).json["revoked"] is True


@pytest.mark.parametrize("end", ["demoted", "signed out", "key revoked"])
def test_an_operator_whose_right_has_just_ended_makes_no_key(service: Service, end: str) -> None:
    operator = OperatorClient(service)
    ann = a_person(service, operator_role="admin")
    if end != "key revoked":
        operator.token = ann.post("/me/operator-token").json["access_token"]
    path = f"/accounts/{service.account_id}/api-keys"
    assert operator.post(path).status_code == 200
    if end == "demoted":
        service.transact(set_operator_role, ann.id, None)
    elif end == "signed out":
        service.transact(end_session, ann.id, ann.session_id)
    else:
        service.transact(revoke_operator_key, operator.key_id)
    refused = operator.post(path), operator.patch(f"/accounts/{service.account_id}", name="another")
    assert [each.json["code"] for each in refused] == ["token_revoked"] * 2
