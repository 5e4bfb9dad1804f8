"""Canceling, pausing and resuming."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from shared.accounts.administration import create_key
from tests.harness.service import PREFIX, SECRET_KEY, Service


def tomorrow() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


def test_it_works(service: Service) -> None:
    send = service.bulk(["254711000000", "254711000001"], send_at=tomorrow()).json["send_id"]
    assert service.get("/balance").json["reserved"] == 2
    assert service.post(f"/sends/{send}/cancel").json["status"] == "canceled"
    assert service.counts(send) == {"submitted": 2, "accepted": 2, "canceled": 2}
    assert service.get("/balance").json["balance"] == 1000
    statuses = {message["status"] for message in service.get(f"/sends/{send}/messages").json["data"]}
    assert statuses == {"canceled"}


def test_canceling_twice_changes_nothing(service: Service) -> None:
    send = service.send(send_at=tomorrow()).json["send_id"]
    assert service.post(f"/sends/{send}/cancel").status_code == 200
    assert service.post(f"/sends/{send}/cancel").status_code == 200
    assert service.get("/balance").json["balance"] == 1000


def test_what_was_sent_cannot_be_canceled(service: Service) -> None:
    send = service.send().json["send_id"]
    response = service.post(f"/sends/{send}/cancel")
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")


def test_a_paused_send_waits_until_it_is_resumed(service: Service) -> None:
    send = service.send("254788000001", send_at=tomorrow()).json["send_id"]
    assert service.post(f"/sends/{send}/pause").json["status"] == "paused"
    service.sweep()
    assert "254788000001" not in service.submitted()
    assert service.post(f"/sends/{send}/resume").json["status"] == "scheduled"
    response = service.post(f"/sends/{send}/resume")
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")


def test_a_rate_of_its_own_is_kept(service: Service) -> None:
    phones = [str(254799000000 + number) for number in range(10)]
    began = time.monotonic()
    send = service.bulk(phones, rate=2).json["send_id"]
    assert service.get(f"/sends/{send}").json["eta"] is not None
    service.sweep()
    counts = service.counts(send)
    assert counts["sent"] + counts.get("queued", 0) == counts["accepted"] == 10
    assert 1 <= counts["sent"] <= 1 + 2 * (time.monotonic() - began)


@pytest.mark.parametrize("action", ["cancel", "pause", "resume", None])
def test_a_key_that_may_only_send_is_shown_no_send(service: Service, action: str | None) -> None:
    """By the response to a change it would see the text, the counts and what they cost."""
    with service.engine.begin() as connection:
        key = create_key(connection, service.account_id, SECRET_KEY, scopes=["sms:send"])
    credentials = {"api_key": key.api_key, "api_secret": key.api_secret}
    token = service.client.post(f"{PREFIX}/auth/token", json=credentials).json["access_token"]
    body = {"sender_id": "ACME", "phone": "254711000000", "message": "a secret", "send_at": tomorrow()}
    send = service.post("/sms/send", token=token, **body).json["send_id"]
    if action is None:
        response = service.patch(f"/sends/{send}", token=token, rate=5)
    else:
        response = service.post(f"/sends/{send}/{action}", token=token)
    assert (response.status_code, response.json["code"], response.json["scope"]) == (
        403,
        "insufficient_scope",
        "sms:read",
    )
    assert "a secret" not in response.text
    assert service.get(f"/sends/{send}").json["status"] == "scheduled"
