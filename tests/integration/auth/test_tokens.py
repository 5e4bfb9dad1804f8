"""What a token may do, and when it ends: by its scopes, its account, its age, and a revocation in another process."""

import time
from ipaddress import IPv6Address

import pytest

from api.auth import tokens
from api.problems import Problem
from shared.accounts.administration import activate_account, create_key, suspend_account
from shared.api_key import MAX_NETWORKS, hash_secret
from shared.scopes import SCOPES
from tests.harness.service import SECRET_KEY, Service


def token_with(service: Service, *scopes: str) -> str:
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=list(scopes))
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    return str(service.client.post("/api/v1/auth/token", json=body).json["access_token"])


def test_a_token_of_a_key_with_as_many_networks_as_possible_works(service: Service) -> None:
    """They travel in the token."""
    here = ["127.0.0.1"]
    far = [str(IPv6Address(hash_secret(str(number), SECRET_KEY)[:16])) for number in range(MAX_NETWORKS - len(here))]
    key = service.transact(create_key, service.account_id, SECRET_KEY, scopes=sorted(SCOPES), allowed_ips=[*here, *far])
    body = {"api_key": key.api_key, "api_secret": key.api_secret}
    token = str(service.client.post("/api/v1/auth/token", json=body).json["access_token"])
    assert len(token) > 1_500
    assert service.get("/balance", token=token).status_code == 200


def test_a_suspended_account_does_nothing_until_it_is_active_again(service: Service) -> None:
    assert service.get("/balance").status_code == 200
    service.transact(suspend_account, service.account_id, "unpaid")
    service.reload_limits()
    for refused in (service.send(), service.get("/balance"), service.get("/messages")):
        assert (refused.status_code, refused.json["code"]) == (403, "account_suspended")
    service.transact(activate_account, service.account_id)
    service.reload_limits()
    assert service.send().status_code == 200


def test_a_token_expires_even_in_a_process_that_has_it_cached(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = service.flask.extensions["bulksms"].tokens
    assert read.parse(service.token).account_id == service.account_id
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 366 * 86_400)
    with pytest.raises(Problem) as ended:
        read.parse(service.token)
    assert ended.value.code == "token_expired"


@pytest.mark.parametrize("behind", [1, 3, 3600])
def test_a_token_works_on_a_host_whose_clock_is_behind(
    service: Service, monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    token = token_with(service, *SCOPES)
    service.serve(service.settings)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - behind)
    assert service.get("/balance", token=token).status_code == 200
    service.serve(service.settings)
    monkeypatch.setattr(time, "time", lambda: now() - 3_700)
    assert service.get("/balance", token=token).json["code"] == "invalid_token"


def test_a_token_revoked_in_one_process_no_longer_works_in_another(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There within FRESH seconds, of which a test need not wait for all."""
    monkeypatch.setattr(tokens, "FRESH", 0.001)
    one, token = service.client, token_with(service, "sms:send", "sms:read")
    service.serve(service.settings)
    assert service.get("/messages", token=token).status_code == 200
    revoked = one.post("/api/v1/auth/revoke", headers={"Authorization": f"Bearer {token}"})
    assert revoked.status_code in (200, 204), revoked.text
    time.sleep(0.01)
    refused = service.get("/messages", token=token)
    assert (refused.status_code, refused.json["code"]) == (401, "token_revoked")
