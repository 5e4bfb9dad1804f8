"""Guessing at secrets: refused alike, and ended for the address that guesses, and for nobody else."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from api import tokens
from api.app import create_app
from shared.accounts import create_key
from shared.keys import NewKey, networks
from tests.integration.service import PREFIX, SECRET_KEY, Service

HERE, THERE = "198.51.100.7", "203.0.113.9"


@pytest.fixture
def service(engine: Any) -> Service:
    """An installation that takes ten failures a minute."""
    return Service(engine, token_requests_per_minute=10, trusted_proxies=networks(["127.0.0.0/8"]))


@pytest.fixture
def key(service: Service) -> NewKey:
    with service.engine.begin() as connection:
        return create_key(connection, service.account_id, SECRET_KEY)


def exchange(service: Service, key: str, secret: str, address: str = HERE, **headers: str) -> TestResponse:
    body = {"api_key": key, "api_secret": secret}
    return service.client.post(
        f"{PREFIX}/auth/token", json=body, headers=headers, environ_overrides={"REMOTE_ADDR": address}
    )


def test_it_works(service: Service, key: NewKey) -> None:
    assert exchange(service, key.api_key, key.api_secret).status_code == 200


def test_who_guesses_is_stopped_and_the_owner_is_not(service: Service, key: NewKey) -> None:
    statuses = [exchange(service, key.api_key, f"guess {number}").status_code for number in range(1000)]
    assert statuses[:10] == [401] * 10
    assert set(statuses[20:]) == {429}
    refused = exchange(service, key.api_key, key.api_secret)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1
    assert exchange(service, key.api_key, key.api_secret, THERE).status_code == 200


def test_an_address_that_is_only_claimed_does_not_help(service: Service, key: NewKey) -> None:
    for number in range(30):
        exchange(service, key.api_key, "guess", **{"X-Forwarded-For": f"192.0.2.{number}"})
    answer = exchange(service, key.api_key, "guess", **{"X-Forwarded-For": "192.0.2.200"})
    assert answer.status_code == 429


def test_behind_a_trusted_proxy_each_client_is_counted_by_itself(service: Service, key: NewKey) -> None:
    for _ in range(30):
        exchange(service, key.api_key, "guess", "127.0.0.1", **{"X-Forwarded-For": f"9.9.9.9, {HERE}"})
    through = {address: {"X-Forwarded-For": address} for address in (HERE, THERE)}
    assert exchange(service, key.api_key, key.api_secret, "127.0.0.1", **through[HERE]).status_code == 429
    assert exchange(service, key.api_key, key.api_secret, "127.0.0.1", **through[THERE]).status_code == 200


def test_a_whole_network_of_ipv6_is_one_client(service: Service, key: NewKey) -> None:
    answers = [exchange(service, key.api_key, "guess", f"2001:db8:1:2::{number:x}") for number in range(30)]
    assert answers[-1].status_code == 429
    assert exchange(service, key.api_key, key.api_secret, "2001:db8:1:3::1").status_code == 200


def test_those_who_succeed_are_not_counted_as_failures(service: Service, key: NewKey) -> None:
    assert {exchange(service, key.api_key, key.api_secret).status_code for _ in range(30)} == {200}


def test_an_unknown_key_is_refused_like_a_wrong_secret(
    service: Service, key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same words, and after the same work: so neither they nor the time tell whether there is such a key."""
    compared: list[int] = []
    real = tokens.same
    monkeypatch.setattr(tokens, "same", lambda stored, given: compared.append(len(stored)) or real(stored, given))
    answers, work = [], []
    for name in (key.api_key, "smsk_live_nobodyhas00"):
        compared.clear()
        answer = exchange(service, name, "smss_wrong")
        answers.append({**answer.get_json(force=True), "request_id": None})
        work.append(list(compared))
    assert answers[0] == answers[1]
    assert work[0] == work[1] == [32, 32]


@pytest.mark.parametrize("path", ["/balance", "/sends", "/limits", "/api-keys", "/nothing", "/sends/x"])
def test_no_answer_is_kept_by_a_cache(service: Service, path: str) -> None:
    assert service.get(path).headers["Cache-Control"] == "no-store"


def test_debugging_cannot_be_switched_on(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASK_DEBUG", "1")
    app = create_app(service.settings, engine=service.engine)
    assert isinstance(app, Flask) and not app.debug

    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError("a secret of the inside")

    answer = app.test_client().get("/broken")
    assert answer.status_code == 500
    assert "secret" not in answer.text and "Traceback" not in answer.text


def test_a_revoked_token_stays_so_in_the_database(service: Service, key: NewKey) -> None:
    token = exchange(service, key.api_key, key.api_secret).json["access_token"]
    service.post("/auth/revoke", token=token)
    other = Service(service.engine)
    assert other.get("/balance", token=token).status_code == 401
    with service.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM revoked_token")).scalar_one() >= 1
