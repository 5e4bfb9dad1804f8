"""SECRET_KEY is changed while customers work: nothing of theirs breaks, and what is new is the new key's."""

from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from bulksms.cli import main
from shared.accounts.administration import create_key
from shared.api_key import NewKey
from shared.people.second_factor import code_at
from shared.scopes import SCOPES
from tests.harness.deliveries import deliver
from tests.harness.people import a_person
from tests.harness.people import sign_in as sign_in_as
from tests.harness.receiver import Receiver
from tests.harness.service import PREFIX, SECRET_KEY, Service
from tests.integration.loopback import local_receiver, loopback_service
from tests.integration.people.test_second_factor import enable, now

NEW = "another-secret-key-of-enough-characters"


service = loopback_service
there = local_receiver


def change_key(service: Service, *fallbacks: str) -> None:
    """Let the API and what posts events have another SECRET_KEY."""
    service.settings = replace(service.settings, secret_key=NEW, secret_key_fallbacks=fallbacks)
    service.serve(service.settings)


def new_key(service: Service) -> NewKey:
    return service.transact(create_key, service.account_id, SECRET_KEY, scopes=SCOPES)


def without_secrets(service: Service) -> None:
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE api_key SET revoked_at = now()"))
        connection.execute(text("UPDATE operator_key SET revoked_at = now()"))
        connection.execute(text("UPDATE webhook SET state = 'deleted'"))
        connection.execute(text("UPDATE person SET totp_secret = NULL"))


def sign_in(service: Service, key: NewKey) -> int:
    return service.client.post(f"{PREFIX}/auth/token", json=key._asdict()).status_code


def finding(service: Service, fallbacks: str = SECRET_KEY) -> str:
    env = {
        "DATABASE_URL": service.settings.database_url,
        "REDIS_URL": "redis://127.0.0.1:1",
        "SECRET_KEY": NEW,
        "SECRET_KEY_FALLBACKS": fallbacks,
        "COLUMNS": "500",
    }
    output = CliRunner().invoke(main, ["doctor"], env=env).output
    return next(line for line in output.splitlines() if "secret key" in line)


def test_tokens_and_api_secrets_still_work(service: Service) -> None:
    token, key, unused = service.token, new_key(service), new_key(service)
    change_key(service, SECRET_KEY)
    assert service.get("/balance", token=token).status_code == 200
    assert sign_in(service, key) == 200
    change_key(service)
    assert service.get("/balance", token=token).status_code == 401
    assert sign_in(service, key) == 200, "it was hashed under the new key when it was used"
    assert sign_in(service, unused) == 401


def test_the_secret_before_a_rotation_still_works_too(service: Service) -> None:
    key = new_key(service)
    rotated = service.post(f"/api-keys/{key.api_key}/rotate").json
    change_key(service, SECRET_KEY)
    for secret in (key.api_secret, rotated["api_secret"]):
        assert sign_in(service, NewKey(key.api_key, secret)) == 200
    change_key(service)
    for secret in (key.api_secret, rotated["api_secret"]):
        assert sign_in(service, NewKey(key.api_key, secret)) == 200


def test_webhooks_are_signed_with_the_secret_that_their_owner_has(service: Service, there: Receiver) -> None:
    made: dict[str, Any] = service.post("/webhooks", url=there.url, events=["message.sent"]).json
    change_key(service, SECRET_KEY)
    service.send()
    deliver(service)
    Webhook(made["secret"]).verify(there.posts[0].body, there.posts[0].headers)
    rotated = service.post(f"/webhooks/{made['webhook_id']}/rotate-secret").json
    service.send()
    deliver(service)
    for secret in (made["secret"], rotated["secret"]):
        Webhook(secret).verify(there.posts[1].body, there.posts[1].headers)
    service.settings = replace(service.settings, secret_key_fallbacks=())
    service.send()
    deliver(service)
    Webhook(rotated["secret"]).verify(there.posts[2].body, there.posts[2].headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(made["secret"]).verify(there.posts[2].body, there.posts[2].headers)


def test_the_doctor_reports_when_the_old_key_can_be_removed(service: Service, there: Receiver) -> None:
    without_secrets(service)
    key = new_key(service)
    service.token = service.client.post(f"{PREFIX}/auth/token", json=key._asdict()).get_json()["access_token"]
    made = service.post("/webhooks", url=there.url).json
    ann = a_person(service)
    secret, _ = enable(ann)
    assert "1 API key, 1 webhook and 1 person with TOTP still need" in finding(service)
    change_key(service, SECRET_KEY)
    assert sign_in(service, key) == 200
    assert "0 API keys, 1 webhook and 1 person with TOTP still need" in finding(service)
    assert sign_in_as(service, ann.email, code=code_at(secret, now())).status_code == 200
    service.post(f"/webhooks/{made['webhook_id']}/rotate-secret")
    assert "0 API keys, 1 webhook and 0 people with TOTP still need" in finding(service), "the old secret still signs"
    service.execute("UPDATE webhook SET previous_until = now()")
    assert "needs SECRET_KEY_FALLBACKS any more" in finding(service)


@pytest.mark.parametrize("fallbacks", ["", "a-third-secret-key-of-enough-characters"])
def test_the_doctor_finds_what_no_key_opens(service: Service, fallbacks: str) -> None:
    without_secrets(service)
    assert "nothing needs a former one" in finding(service, "")
    key = new_key(service)
    change_key(service, SECRET_KEY)
    assert "1 API key, 0 webhooks and 0 people with TOTP still need" in finding(service)
    assert "✗" in finding(service, fallbacks)
    assert "1 API key, 0 webhooks and 0 people with TOTP need a key that is not set here" in finding(service, fallbacks)
    assert sign_in(service, key) == 200
    assert "✗" not in finding(service, fallbacks), "it was hashed under the new key when it was used"
