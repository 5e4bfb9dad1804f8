"""API keys by the API: what they may hand out, where they work, and when they and their secrets end."""

import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from api.auth import tokens
from api.resources.api_keys import routes
from shared.accounts.administration import create_key
from shared.accounts.limits import set_limits
from shared.api_key import networks
from shared.scopes import SCOPES
from tests.harness.service import PREFIX, SECRET_KEY, Service

pytestmark = pytest.mark.usefixtures("nothing_is_remembered")

ELSEWHERE = {"REMOTE_ADDR": "198.51.100.7"}


def exchange(service: Service, key: dict[str, str], environ: Any = None) -> TestResponse:
    body = {"api_key": key["api_key"], "api_secret": key["api_secret"]}
    return service.client.post(f"{PREFIX}/auth/token", json=body, environ_overrides=environ)


def token_of(service: Service, key: dict[str, str]) -> str:
    response = exchange(service, key)
    assert response.status_code == 200, response.text
    return str(response.json["access_token"])


def made(service: Service, **body: Any) -> dict[str, Any]:
    response = service.post("/api-keys", **body)
    assert response.status_code == 200, response.text
    return dict(response.json)


def delete(service: Service, key: str, token: str | None = None) -> TestResponse:
    headers = {"Authorization": f"Bearer {token or service.token}"}
    return service.client.delete(f"{PREFIX}/api-keys/{key}", headers=headers)


def limited(service: Service, **limits: Any) -> str:
    """A token of a key that the operator made with limits."""
    scopes, expires_at = limits.pop("scopes", SCOPES), limits.pop("expires_at", None)
    key = service.transact(
        create_key, service.account_id, SECRET_KEY, limits.pop("test", False), scopes, expires_at, **limits
    )
    return token_of(service, key._asdict())


def code(response: TestResponse) -> str:
    return str(response.get_json(force=True)["code"])


def test_it_works(service: Service) -> None:
    key = made(service, name="shop", scopes=["sms:send", "sms:read"])
    assert key["api_key"].startswith("smsk_live_")
    assert (key["name"], key["scopes"], key["test"], key["last_used_at"]) == (
        "shop",
        ["sms:read", "sms:send"],
        False,
        None,
    )
    token = token_of(service, key)
    sent = service.post("/sms/send", token=token, sender_id="ACME", phone="254711000000", message="Hi")
    assert sent.status_code == 200
    assert code(service.get("/balance", token=token)) == "insufficient_scope"
    listed = {each["api_key"]: each for each in service.get("/api-keys").json["data"]}
    assert set(listed[key["api_key"]]) == set(key) - {"api_secret"}
    assert listed[key["api_key"]]["last_used_at"] is not None


def test_omitted_options_are_those_of_the_key_in_use_except_for_its_scopes(service: Service) -> None:
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(days=9)
    token = limited(
        service,
        scopes=["keys:write", "sms:send"],
        expires_at=ends,
        allowed_ips=["127.0.0.0/8"],
        requests_per_second=7,
    )
    key = made(service, token=token)
    assert (sorted(key["scopes"]), key["allowed_ips"], key["requests_per_second"], key["test"]) == (
        ["sms:send"],
        ["127.0.0.0/8"],
        7,
        False,
    )
    assert datetime.fromisoformat(key["expires_at"]) == ends


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        ({"scopes": ["keys:write"]}, {"scopes": ["keys:write", "sms:send"]}),
        ({"test": True}, {"test": False}),
        ({"allowed_ips": ["127.0.0.0/8"]}, {"allowed_ips": ["0.0.0.0/0"]}),
        ({"allowed_ips": ["127.0.0.0/8"]}, {"allowed_ips": ["127.0.0.1", "::1"]}),
        ({"requests_per_second": 7}, {"requests_per_second": 8}),
        ({"expires_at": datetime.now(UTC) + timedelta(days=9)}, {"expires_at": "2099-01-01T00:00:00Z"}),
    ],
)
def test_a_key_cannot_grant_more_than_it_has(service: Service, limits: Any, wanted: dict[str, Any]) -> None:
    token = limited(service, **limits)
    response = service.post("/api-keys", token=token, **wanted)
    assert (response.status_code, code(response)) == (403, "insufficient_scope")


@pytest.mark.parametrize(
    "limits",
    [
        {"scopes": ["keys:write"]},
        {"allowed_ips": ["127.0.0.0/8"]},
        {"requests_per_second": 7},
        {"expires_at": datetime.now(UTC) + timedelta(days=9)},
    ],
)
def test_a_key_cannot_rotate_or_revoke_one_that_may_do_more(service: Service, limits: Any) -> None:
    token, other = limited(service, **limits), made(service)
    for response in (
        service.post(f"/api-keys/{other['api_key']}/rotate", token=token),
        delete(service, other["api_key"], token),
    ):
        assert (response.status_code, code(response)) == (403, "insufficient_scope")
    assert exchange(service, other).status_code == 200


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"scopes": []}, "/scopes"),
        ({"scopes": ["sms:everything"]}, "/scopes/0"),
        ({"scopes": "sms:send"}, "/scopes"),
        ({"allowed_ips": ["10.0.0.1/8"]}, "/allowed_ips"),
        ({"allowed_ips": ["example.com"]}, "/allowed_ips"),
        ({"allowed_ips": []}, "/allowed_ips"),
        ({"allowed_ips": ["10.0.0.1"] * 51}, "/allowed_ips"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"name": ""}, "/name"),
        ({"name": "a\nb"}, "/name"),
        ({"requests_per_second": 0}, "/requests_per_second"),
        ({"test": 1}, "/test"),
        ({"account_id": 1}, "/account_id"),
        ({"secret_hash": "x"}, "/secret_hash"),
    ],
)
def test_an_invalid_option_is_reported(service: Service, body: dict[str, Any], pointer: str) -> None:
    before = len(service.get("/api-keys").json["data"])
    response = service.post("/api-keys", **body)
    assert (response.status_code, code(response)) == (400, "validation_failed")
    assert [error["pointer"] for error in response.get_json(force=True)["errors"]] == [pointer]
    assert len(service.get("/api-keys").json["data"]) == before


def test_a_repeated_request_makes_one_key_and_does_not_show_its_secret_again(service: Service) -> None:
    first, again = (service.post("/api-keys", headers={"Idempotency-Key": "one"}, name="x") for _ in range(2))
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == {name: value for name, value in first.json.items() if name != "api_secret"}
    assert exchange(service, first.json).status_code == 200
    path = f"/api-keys/{first.json['api_key']}/rotate"
    rotated, repeated = (service.post(path, headers={"Idempotency-Key": "two"}) for _ in range(2))
    assert repeated.json == {name: value for name, value in rotated.json.items() if name != "api_secret"}
    assert exchange(service, rotated.json).status_code == 200


def test_no_secret_is_in_the_database(service: Service) -> None:
    key = service.post("/api-keys", headers={"Idempotency-Key": "dump"}).json
    rotated = service.post(f"/api-keys/{key['api_key']}/rotate", headers={"Idempotency-Key": "dump"}).json
    tables = service.scalars("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    rows = [row for table in tables for row in service.scalars(f"SELECT t::text FROM {table} t")]
    everything = "\n".join(rows)
    assert key["api_key"] in everything
    for secret in (key["api_secret"], rotated["api_secret"], service.token):
        assert secret not in everything


def test_both_secrets_work_while_a_key_is_rotated(service: Service) -> None:
    key = made(service)
    old_token, before = token_of(service, key), datetime.now(UTC)
    rotated = service.post(f"/api-keys/{key['api_key']}/rotate", overlap_seconds=600).json
    assert rotated["api_secret"] != key["api_secret"]
    ends = datetime.fromisoformat(rotated["old_secret_expires_at"])
    assert before - timedelta(seconds=1) < ends - timedelta(seconds=600) <= datetime.now(UTC)
    for each in (key, {**key, **rotated}):
        assert service.get("/balance", token=token_of(service, each)).status_code == 200
    assert service.get("/balance", token=old_token).status_code == 200


def test_the_old_secret_dies_and_its_tokens_with_it(service: Service) -> None:
    key = made(service)
    old_token = token_of(service, key)
    rotated = service.post(f"/api-keys/{key['api_key']}/rotate", overlap_seconds=600).json
    between, new_token = token_of(service, key), token_of(service, rotated)
    service.execute("UPDATE api_key SET previous_until = now() WHERE id = :key", key=key["api_key"])
    assert code(exchange(service, key)) == "invalid_credentials"
    for dead in (old_token, between):
        assert code(service.get("/balance", token=dead)) == "token_revoked"
    assert service.get("/balance", token=new_token).status_code == 200


def test_a_second_rotation_ends_the_oldest_secret_only_if_it_says_so(service: Service) -> None:
    key = made(service)
    path, oldest = f"/api-keys/{key['api_key']}/rotate", token_of(service, key)
    second = service.post(path, overlap_seconds=600).json
    refused = service.post(path, overlap_seconds=600)
    assert (refused.status_code, code(refused)) == (409, "state_conflict")
    works_until = datetime.fromisoformat(second["old_secret_expires_at"])
    assert f"until {works_until:%Y-%m-%dT%H:%M:%SZ}" in refused.get_json(force=True)["detail"]
    for each in (key, second):
        assert exchange(service, each).status_code == 200
    assert service.get("/balance", token=oldest).status_code == 200
    third = service.post(path, overlap_seconds=0).json
    for each in (key, second):
        assert code(exchange(service, each)) == "invalid_credentials"
    assert code(service.get("/balance", token=oldest)) == "token_revoked"
    assert exchange(service, third).status_code == 200
    assert service.post(path, overlap_seconds=600).status_code == 200


def test_a_revoked_key_no_longer_works_and_is_not_listed(service: Service) -> None:
    key = made(service)
    token = token_of(service, key)
    assert delete(service, key["api_key"]).json == {"api_key": key["api_key"], "revoked": True}
    assert code(service.get("/balance", token=token)) == "token_revoked"
    assert code(exchange(service, key)) == "invalid_credentials"
    assert key["api_key"] not in {each["api_key"] for each in service.get("/api-keys").json["data"]}
    for response in (delete(service, key["api_key"]), service.post(f"/api-keys/{key['api_key']}/rotate")):
        assert (response.status_code, code(response)) == (404, "api_key_not_found")


def test_an_expired_key_no_longer_works(service: Service) -> None:
    key = made(service, expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    token = token_of(service, key)
    service.execute("UPDATE api_key SET expires_at = now() WHERE id = :key", key=key["api_key"])
    assert code(service.get("/balance", token=token)) == "token_revoked"
    assert code(exchange(service, key)) == "invalid_credentials"


def test_a_key_works_only_from_its_networks(service: Service) -> None:
    key = made(service, allowed_ips=["127.0.0.1"])
    token = token_of(service, key)
    assert service.get("/balance", token=token).status_code == 200
    response = exchange(service, key, ELSEWHERE)
    assert (response.status_code, code(response)) == (403, "ip_not_allowed")
    headers = {"Authorization": f"Bearer {token}"}
    for forwarded in ({}, {"X-Forwarded-For": "127.0.0.1"}):
        response = service.client.get(
            f"{PREFIX}/balance", headers={**headers, **forwarded}, environ_overrides=ELSEWHERE
        )
        assert (response.status_code, code(response)) == (403, "ip_not_allowed")


def test_behind_a_trusted_proxy_the_clients_own_address_counts(service: Service) -> None:
    proxied = Service(service.engine, trusted_proxies=networks(["127.0.0.0/8"]))
    key = made(proxied, allowed_ips=["192.0.2.0/24"])
    body = {"api_key": key["api_key"], "api_secret": key["api_secret"]}
    for forwarded, status in (("192.0.2.9", 200), ("198.51.100.7", 403), ("192.0.2.9, 198.51.100.7", 403)):
        response = proxied.client.post(f"{PREFIX}/auth/token", json=body, headers={"X-Forwarded-For": forwarded})
        assert response.status_code == status


def test_a_wrong_secret_does_not_reveal_whether_the_address_is_allowed(service: Service) -> None:
    key = made(service, allowed_ips=["192.0.2.1"])
    assert code(exchange(service, {**key, "api_secret": "smss_wrong"})) == "invalid_credentials"


def test_the_last_use_is_written_at_most_once_a_minute(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    last_used = text("SELECT last_used_at FROM api_key WHERE account_id = :account")
    service.get("/balance")

    def used() -> datetime:
        return datetime.fromisoformat(str(service.scalar(last_used, account=service.account_id)))

    first = used()
    for _ in range(5):
        service.get("/balance")
    assert used() == first
    service.execute("UPDATE api_key SET last_used_at = last_used_at - interval '2 min'")
    later = SimpleNamespace(time=time.time, monotonic=lambda: time.monotonic() + 61)
    monkeypatch.setattr(tokens, "time", later)
    service.get("/balance")
    assert used() >= first


def test_an_account_creates_a_limited_number_of_keys_per_day(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "MAX_CREATED_PER_DAY", 3)
    for _ in range(2):
        delete(service, made(service)["api_key"])
    refused = service.post("/api-keys")
    assert (refused.status_code, code(refused), refused.headers["Retry-After"]) == (429, "rate_limited", "3600")
    assert service.post("/api-keys", test=True).status_code == 200
    age = "UPDATE api_key SET created_at = created_at - interval '1 day' WHERE account_id = :account"
    service.execute(age, account=service.account_id)
    assert service.post("/api-keys").status_code == 200


def test_what_is_done_to_keys_is_logged(service: Service) -> None:
    key = made(service, name="shop")
    service.post(f"/api-keys/{key['api_key']}/rotate")
    delete(service, key["api_key"])
    rows = service.execute(
        "SELECT action, actor, address, request_id FROM audit_log WHERE subject = :key ORDER BY id", key=key["api_key"]
    )
    assert [row.action for row in rows] == ["key.created", "key.rotated", "key.revoked"]
    for row in rows:
        assert row.actor.startswith("key smsk_live_")
        assert row.address == "127.0.0.1"
        assert row.request_id.startswith("req_")


@pytest.mark.usefixtures("no_refill")
def test_a_key_has_a_rate_of_its_own(service: Service) -> None:
    key = made(service, requests_per_second=2)
    token = token_of(service, key)
    responses = [service.get("/balance", token=token) for _ in range(8)]
    refused = next(response for response in responses if response.status_code == 429)
    assert code(refused) == "rate_limited"
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.headers["RateLimit-Policy"] == '"requests";q=2;w=1'
    assert refused.headers["RateLimit"] == '"requests";r=0;t=1'
    other = service.get("/balance")
    assert (other.status_code, other.headers["RateLimit-Policy"]) == (200, '"requests";q=10000;w=1')


@pytest.mark.usefixtures("no_refill")
def test_requests_that_a_key_is_refused_are_not_counted_against_its_account(service: Service) -> None:
    token = limited(service, requests_per_second=2)
    service.transact(set_limits, service.account_id, requests_per_second=9)
    service.reload_limits()
    with_key = [service.get("/balance", token=token).status_code for _ in range(30)]
    others = [service.get("/balance").status_code for _ in range(20)]
    service.transact(set_limits, service.account_id, requests_per_second=None)
    service.reload_limits()
    assert with_key == [200] + [429] * 29, "its other request was for its token"
    assert others == [200] * 8 + [429] * 12
