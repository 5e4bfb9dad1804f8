"""Guessing at secrets: refused alike, and ended for the address that guesses, and for nobody else."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, text
from werkzeug.test import TestResponse

from api.app import create_app
from api.auth import revocations, tokens
from api.auth.revocations import RevokedTokens
from shared import api_key as keys
from shared.accounts.administration import create_key, suspend_account
from shared.api_key import NewKey, networks
from tests.harness.service import PREFIX, SECRET_KEY, Service

REQUESTS_PER_MINUTE = 10
HERE, THERE = "198.51.100.7", "203.0.113.9"


@pytest.fixture
def service(engine: Any) -> Service:
    """An installation that takes ten failures a minute."""
    return Service(engine, token_requests_per_minute=REQUESTS_PER_MINUTE, trusted_proxies=networks(["127.0.0.0/8"]))


@pytest.fixture
def key(service: Service) -> NewKey:
    return service.transact(create_key, service.account_id, SECRET_KEY)


def exchange(service: Service, key: str, secret: str, address: str = HERE, **headers: str) -> TestResponse:
    body = {"api_key": key, "api_secret": secret}
    return service.client.post(
        f"{PREFIX}/auth/token", json=body, headers=headers, environ_overrides={"REMOTE_ADDR": address}
    )


@pytest.mark.usefixtures("no_refill")
def test_guessing_is_stopped_and_the_owner_still_signs_in(service: Service, key: NewKey) -> None:
    statuses = [exchange(service, key.api_key, f"guess {number}").status_code for number in range(200)]
    assert statuses[:10] == [401] * 10 and set(statuses) == {401, 429}
    assert statuses.count(401) <= 20
    refused = exchange(service, key.api_key, key.api_secret)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1
    assert exchange(service, key.api_key, key.api_secret, THERE).status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_right_secrets_that_are_refused_are_no_guesses(service: Service, key: NewKey) -> None:
    elsewhere = service.transact(create_key, service.account_id, SECRET_KEY, allowed_ips=[THERE])
    other = service.new_account("suspended")
    suspended = service.transact(create_key, other, SECRET_KEY)
    service.transact(suspend_account, other, "unpaid")
    refused = [exchange(service, *each).json["code"] for each in [elsewhere, suspended] * REQUESTS_PER_MINUTE]
    assert refused == ["ip_not_allowed", "account_suspended"] * REQUESTS_PER_MINUTE
    assert exchange(service, key.api_key, key.api_secret).status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_behind_a_trusted_proxy_each_client_is_counted_by_itself(service: Service, key: NewKey) -> None:
    for _ in range(30):
        exchange(service, key.api_key, "guess", "127.0.0.1", **{"X-Forwarded-For": f"9.9.9.9, {HERE}"})
    through = {address: {"X-Forwarded-For": address} for address in (HERE, THERE)}
    assert exchange(service, key.api_key, key.api_secret, "127.0.0.1", **through[HERE]).status_code == 429
    assert exchange(service, key.api_key, key.api_secret, "127.0.0.1", **through[THERE]).status_code == 200


def test_an_unknown_key_is_refused_like_a_wrong_secret(
    service: Service, key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same words, and after the same work: so neither they nor the time tell whether there is such a key."""
    compared: list[int] = []
    real = keys.same

    def same(stored: bytes, given: bytes) -> bool:
        compared.append(len(stored))
        return real(stored, given)

    monkeypatch.setattr(keys, "same", same)
    responses, work = [], []
    for name in (key.api_key, "smsk_live_nobodyhas00"):
        compared.clear()
        response = exchange(service, name, "smss_wrong")
        responses.append({**response.get_json(force=True), "request_id": None})
        work.append(list(compared))
    assert responses[0] == responses[1]
    assert work[0] == work[1] == [32, 32]


@pytest.mark.parametrize("path", ["/balance", "/sends", "/limits", "/api-keys", "/nothing", "/sends/x"])
def test_no_response_is_kept_by_a_cache(service: Service, path: str) -> None:
    assert service.get(path).headers["Cache-Control"] == "no-store"


def test_debugging_cannot_be_switched_on(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASK_DEBUG", "1")
    app = create_app(service.settings, engine=service.engine)
    assert isinstance(app, Flask) and not app.debug

    @app.get("/broken")
    def broken() -> str:
        raise ZeroDivisionError("a secret of the inside")

    response = app.test_client().get("/broken")
    assert response.status_code == 500
    assert "secret" not in response.text and "Traceback" not in response.text


def test_only_new_revocations_are_read(service: Service) -> None:
    """Each of the many there are was read again after each that came."""
    service.execute("""
            INSERT INTO revoked_token (id, api_key_id, revoked_at, expires_at)
            SELECT 'old' || n, 'k', now() - interval '1 hour', now() + interval '1 hour'
              FROM generate_series(1, 500) n
            """)
    revoked = RevokedTokens()
    assert service.transact(revoked.read) >= 500
    service.execute(
        "INSERT INTO revoked_token (id, api_key_id, expires_at) VALUES ('new', 'k', now() + interval '1 hour')"
    )
    with service.engine.begin() as connection:
        assert revoked.read(connection) < 100
        assert "old1" in revoked and "new" in revoked


def test_a_revocation_that_is_committed_late_is_not_missed(service: Service) -> None:
    """A revocation has its time when it begins, and is seen when it is committed."""
    revoked = RevokedTokens()
    with service.engine.connect() as late, late.begin():
        late.execute(
            text(
                "INSERT INTO revoked_token (id, api_key_id, expires_at) VALUES ('late', 'k', now() + interval '1 hour')"
            )
        )
        service.transact(revoked.read)
    assert "late" not in revoked
    service.transact(revoked.read)
    assert "late" in revoked


def test_a_revocation_is_not_missed_when_the_clock_of_the_database_is_set_back(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked = RevokedTokens()
    with monkeypatch.context() as before, service.engine.begin() as connection:
        before.setattr(revocations, "CLOCK", select(func.clock_timestamp() + timedelta(hours=2)))
        revoked.read(connection)
    insert = (
        "INSERT INTO revoked_token (id, api_key_id, expires_at) VALUES ('set back', 'k', now() + interval '1 hour')"
    )
    service.execute(insert)
    service.transact(revoked.read)
    assert "set back" in revoked


def test_ended_api_keys_are_known_for_a_day(service: Service) -> None:
    """By then the last of their tokens has expired."""
    ids = [service.transact(create_key, service.account_id, SECRET_KEY).api_key for _ in range(6)]
    ended = text("UPDATE api_key SET revoked_at = now() - CAST(:ago AS interval) WHERE id = :id")
    expired = text("UPDATE api_key SET expires_at = now() - CAST(:ago AS interval) WHERE id = :id")
    for statement, id, ago in zip([ended, expired] * 2, ids, ["24 hours"] * 2 + ["26 hours"] * 2, strict=False):
        service.execute(statement, id=id, ago=ago)
    service.execute("UPDATE api_key SET expires_at = now() + interval '1 hour' WHERE id = :id", id=ids[4])
    known = revocations.read_revocations(service.engine, revocations.Revocations()).keys
    assert [each in known for each in ids] == [True, True, False, False, False, False]


def test_a_process_knows_its_own_revocation_without_reading(
    service: Service, key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = exchange(service, key.api_key, key.api_secret).json["access_token"]
    assert service.get("/balance", token=token).status_code == 200
    monkeypatch.setattr(tokens, "FRESH", 3600.0)
    monkeypatch.setattr(tokens, "read_revocations", None)
    assert service.post("/auth/revoke", token=token).status_code == 200
    assert service.get("/balance", token=token).status_code == 401


def test_a_key_has_a_maximum_of_revoked_tokens(service: Service, key: NewKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocations, "MAX_REVOKED", 2)
    alive = [exchange(service, key.api_key, key.api_secret).json["access_token"] for _ in range(3)]
    for token in alive[:2]:
        assert service.post("/auth/revoke", token=token).status_code == 200
    refused = service.post("/auth/revoke", token=alive[2])
    assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")
    assert service.get("/balance", token=alive[2]).status_code == 200


def test_an_account_has_a_maximum_of_revoked_tokens(
    service: Service, key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "MAX_REVOKED_OF_ACCOUNT", 2)
    alive = [exchange(service, key.api_key, key.api_secret).json["access_token"] for _ in range(2)]
    for token in (alive[0], service.token):
        assert service.post("/auth/revoke", token=token).status_code == 200
    refused = service.post("/auth/revoke", token=alive[1])
    assert (refused.status_code, refused.json["code"]) == (429, "rate_limited")
    sandbox = service.in_sandbox()
    assert sandbox.post("/auth/revoke").status_code == 200
