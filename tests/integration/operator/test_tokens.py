"""Operator tokens: issued for keys and people, only for the operator API, and dead once revoked."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from werkzeug.test import TestResponse

from api.auth.operator_tokens import OperatorTokens
from api.limits.bulkheads import OperatorOwner
from api.problems import Problem
from api.server.application import Owners
from shared.accounts.operator_keys import (
    actor_of_key,
    create_operator_key,
    revoke_operator_key,
    revoke_operator_tokens,
)
from shared.api_key import NewKey
from tests.harness.database import wait_until_somebody_waits
from tests.harness.operator import PREFIX, OperatorClient
from tests.harness.service import SECRET_KEY, Service

PERSON = "person 0190a8e6-0000-7000-8000-000000000001"


def exchange(service: Service, key: NewKey, **more: Any) -> TestResponse:
    return service.client.post(f"{PREFIX}/auth/token", json=key._asdict(), **more)


def new_key(service: Service, *scopes: str, **more: Any) -> NewKey:
    return service.transact(create_operator_key, "billing", scopes, SECRET_KEY, **more)


def tokens_of(service: Service) -> OperatorTokens:
    tokens: OperatorTokens = service.flask.extensions["bulksms"].operator_tokens
    return tokens


def code_of(service: Service, token: str) -> str:
    with pytest.raises(Problem) as refused:
        tokens_of(service).read(f"Bearer {token}")
    return refused.value.code


def test_it_works(service: Service) -> None:
    response = exchange(service, new_key(service, "read", "money")).json
    assert (response["token_type"], response["scope"]) == ("Bearer", "money read")
    assert 3540 <= response["expires_in"] <= 3600
    operator = tokens_of(service).read(f"Bearer {response['access_token']}")
    assert operator.actor.startswith("operator key opk_") and operator.scopes == {"read", "money"}


def test_a_wrong_secret_and_an_unknown_key_are_refused_alike(service: Service) -> None:
    key = new_key(service, "read")
    responses = [
        exchange(service, NewKey(*pair))
        for pair in ((key.api_key, "ops_wrong"), ("opk_nobodyhas000", key.api_secret), ("x" * 1000, "é"))
    ]
    assert {(each.status_code, each.json["code"], each.json["detail"]) for each in responses} == {
        (401, "invalid_credentials", "The operator key or secret is wrong.")
    }


@pytest.mark.usefixtures("no_refill")
def test_guesses_are_counted_by_address_together_with_those_at_api_keys(engine: Any) -> None:
    service = Service(engine, token_requests_per_minute=10)
    key, here = new_key(service, "read"), {"environ_overrides": {"REMOTE_ADDR": "198.51.100.7"}}
    statuses = [exchange(service, NewKey(key.api_key, f"guess {n}"), **here).status_code for n in range(11)]
    assert set(statuses) == {401, 429}
    assert exchange(service, key, **here).status_code == 429
    assert service.client.post("/api/v1/auth/token", json=key._asdict(), **here).status_code == 429
    assert exchange(service, key, environ_overrides={"REMOTE_ADDR": "203.0.113.9"}).status_code == 200


def test_keys_and_tokens_of_one_api_do_not_work_on_the_other(service: Service) -> None:
    operator = OperatorClient(service)
    refused = service.get("/balance", token=operator.token)
    assert (refused.status_code, refused.json["code"]) == (401, "invalid_token")
    with pytest.raises(Problem) as wrong:
        tokens_of(service).read(f"Bearer {service.token}")
    assert wrong.value.code == "invalid_token"
    key = NewKey(operator.key_id, operator.secret)
    assert service.client.post("/api/v1/auth/token", json=key._asdict()).status_code == 401
    assert exchange(service, key).status_code == 200


def test_a_revoked_key_ends_its_tokens_in_all_processes(service: Service) -> None:
    operator = OperatorClient(service, "read")
    assert tokens_of(service).read(f"Bearer {operator.token}").scopes == {"read"}
    service.transact(revoke_operator_key, operator.key_id)
    service.reload_limits()
    assert code_of(service, operator.token) == "token_revoked"
    assert exchange(service, NewKey(operator.key_id, operator.secret)).status_code == 401


@pytest.mark.usefixtures("nothing_is_remembered")
def test_a_revocation_is_noticed_without_a_notification(service: Service) -> None:
    operator = OperatorClient(service, "read")
    tokens_of(service).read(f"Bearer {operator.token}")
    service.transact(revoke_operator_key, operator.key_id)
    assert code_of(service, operator.token) == "token_revoked"


def test_a_persons_token_ends_with_the_session(service: Service) -> None:
    tokens, sessions = tokens_of(service), [f"session {uuid4()}" for _ in range(2)]
    (ended, _), (other, _) = (tokens.issue(PERSON, ("read",), 600, ends_with=(session,)) for session in sessions)
    assert tokens.read(f"Bearer {ended}").actor == PERSON
    service.transact(revoke_operator_tokens, sessions[0])
    service.reload_limits()
    assert code_of(service, ended) == "token_revoked"
    assert tokens.read(f"Bearer {other}").scopes == {"read"}


@pytest.mark.parametrize("of", ["key", "session"])
def test_a_token_that_is_issued_after_the_revocation_is_revoked_too(
    service: Service, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever issued it had found the key, or the session, just before."""
    key, session = new_key(service, "read"), f"session {uuid4()}"
    service.transact(revoke_operator_key, key.api_key)
    service.transact(revoke_operator_tokens, session)
    service.reload_limits()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 60)
    actor, ends_with = {"key": (actor_of_key(key.api_key), ()), "session": (PERSON, (session,))}[of]
    token, _ = tokens_of(service).issue(actor, ("read",), 600, ends_with=ends_with)
    assert code_of(service, token) == "token_revoked"


def test_an_exchange_waits_for_a_revocation_that_is_about_to_commit(service: Service) -> None:
    key = new_key(service, "read")
    with ThreadPoolExecutor(1) as threads:
        with service.engine.begin() as connection:
            revoke_operator_key(connection, key.api_key)
            pending = threads.submit(exchange, service, key)
            wait_until_somebody_waits(service.engine)
        refused = pending.result(120)
    assert (refused.status_code, refused.json["code"]) == (401, "invalid_credentials")


def test_a_token_is_valid_for_an_hour_at_most(service: Service) -> None:
    for seconds in (0, 3601):
        with pytest.raises(ValueError, match="3600"):
            tokens_of(service).issue("key:1", ["read"], seconds)
    assert tokens_of(service).issue("key:1", ["read"], 3600)


def test_a_token_that_is_dated_far_ahead_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could outlive what is known of its revocation."""
    token, now = OperatorClient(service).token, time.time
    assert tokens_of(service).read(f"Bearer {token}")
    monkeypatch.setattr(time, "time", lambda: now() - 3_700)
    assert code_of(service, token) == "invalid_token"


def test_a_token_never_outlives_its_key(service: Service) -> None:
    key = new_key(service, "read", expires_at=datetime.now(UTC) + timedelta(seconds=100))
    assert exchange(service, key).json["expires_in"] <= 100
    service.execute("UPDATE operator_key SET expires_at = now() - interval '1 s'")
    assert exchange(service, key).status_code == 401


def test_a_key_of_a_network_works_only_there(service: Service) -> None:
    key = new_key(service, "read", allowed_ips=["192.0.2.0/24"])
    assert exchange(service, key, environ_overrides={"REMOTE_ADDR": "198.51.100.7"}).json["code"] == "ip_not_allowed"
    inside = exchange(service, key, environ_overrides={"REMOTE_ADDR": "192.0.2.9"})
    operator = tokens_of(service).read(f"Bearer {inside.json['access_token']}")
    assert [str(network) for network in operator.networks] == ["192.0.2.0/24"]
    headers = {"Authorization": f"Bearer {inside.json['access_token']}"}
    for address, status in (("192.0.2.9", 200), ("198.51.100.7", 403)):
        response = service.client.get(f"{PREFIX}/accounts", headers=headers, environ_overrides={"REMOTE_ADDR": address})
        assert response.status_code == status, response.text


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é", "x" * 5000, "smsk_live_x", "ops_x"])
def test_an_invalid_token_is_refused(service: Service, token: str) -> None:
    assert code_of(service, token) in ("missing_token", "invalid_token")


def test_an_operator_is_the_owner_of_its_requests(service: Service) -> None:
    operator = OperatorClient(service)
    owner_of = Owners(service.flask.extensions["bulksms"])
    environ = {"HTTP_AUTHORIZATION": f"Bearer {operator.token}", "REMOTE_ADDR": "198.51.100.7"}
    assert owner_of({**environ, "PATH_INFO": f"{PREFIX}/accounts"}) == OperatorOwner(operator.actor)
    assert owner_of({**environ, "PATH_INFO": "/api/v1/balance"}) == "198.51.100.7"
    environ["HTTP_AUTHORIZATION"] = f"Bearer {service.token}"
    assert owner_of({**environ, "PATH_INFO": f"{PREFIX}/accounts"}) == "198.51.100.7"


@pytest.mark.usefixtures("no_refill")
def test_an_operator_has_a_rate_limit_of_its_own(engine: Any) -> None:
    service = Service(engine, requests_per_second=5)
    busy, other = OperatorClient(service, "read"), OperatorClient(service, "read")
    responses = [busy.get("/guard") for _ in range(30)]
    assert {each.status_code for each in responses} == {200, 429}
    refused = next(each for each in responses if each.status_code == 429)
    assert (refused.json["code"], int(refused.headers["Retry-After"]) >= 1) == ("rate_limited", True)
    assert other.get("/guard").status_code == 200
    assert service.get("/balance").status_code == 200
