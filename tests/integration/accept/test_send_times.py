"""When a send is due: what lies in the past, and what a change of its time brings along."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api import account_cache
from tests.harness.service import Service
from tests.harness.times import pass_time

PHONE = "254766000001"
DAY = timedelta(days=1)


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> datetime:
    return datetime.now(UTC)


def refused(response: TestResponse, pointer: str) -> bool:
    errors = [(each["pointer"], each["code"]) for each in response.get_json(force=True).get("errors", [])]
    return (response.status_code, errors) == (400, [(pointer, "invalid_time")])


@pytest.mark.parametrize("path", ["/sms/send", "/sms/send-bulk", "/sms/send-group", "/sms/quote"])
def test_every_endpoint_refuses_a_time_in_the_past(service: Service, path: str) -> None:
    group = service.new_group([PHONE])
    to: dict[str, Any] = {"/sms/send-bulk": {"phones": [PHONE]}, "/sms/send-group": {"group_id": group}}.get(
        path, {"phone": PHONE}
    )
    body = {"sender_id": "ACME", "message": "Hi", **to}
    assert refused(service.post(path, **body, send_at=stamp(now() - timedelta(seconds=90))), "/send_at")
    assert refused(service.post(path, **body, send_at=stamp(now() - 365 * DAY)), "/send_at")
    assert refused(service.post(path, **body, expires_at=stamp(now() - timedelta(seconds=1))), "/expires_at")
    assert service.get("/sends").json["data"] == []
    assert service.post(path, **body, send_at=stamp(now() - timedelta(seconds=20))).status_code == 200


def test_a_change_to_a_time_in_the_past_is_refused(service: Service) -> None:
    due = stamp(now() + DAY)
    send = service.send(PHONE, send_at=due).json["send_id"]
    assert refused(service.patch(f"/sends/{send}", send_at=stamp(now() - timedelta(seconds=90))), "/send_at")
    assert service.get(f"/sends/{send}").json["send_at"] == due
    before = stamp(now())
    changed = service.patch(f"/sends/{send}", send_at=stamp(now() - timedelta(seconds=20))).json
    assert changed["status"] == "queued" and before <= changed["send_at"] < due


def test_a_repeated_request_gets_its_response_even_after_its_time_has_passed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was accepted: a refusal because its time is over would say that nothing was sent."""
    body = {"send_at": stamp(now() + timedelta(hours=1)), "expires_at": stamp(now() + timedelta(hours=2))}
    headers = {"Idempotency-Key": "due"}
    first = service.send(PHONE, **body, headers=headers)

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(hours=3)

    monkeypatch.setattr("api.accept.accept.datetime", Later)
    assert refused(service.send(PHONE, **body), "/send_at")
    again = service.send(PHONE, **body, headers=headers)
    assert (again.status_code, again.json) == (200, first.json)
    assert again.headers["Idempotency-Replayed"] == "true"
    other = service.send(PHONE, "Another", **body, headers=headers)
    assert (other.status_code, other.json["code"]) == (422, "idempotency_key_reused")


def test_a_repeated_request_gets_its_response_even_after_the_recipient_opted_out(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Idempotency-Key": "opted-out"}
    first = service.send(PHONE, headers=headers)
    service.post("/suppressions", phones=[PHONE])
    pass_time(monkeypatch, account_cache, 1.6)  # what the API knows of them is at most 1.5 s old
    assert service.send(PHONE).json["code"] == "recipient_suppressed"
    assert service.send(PHONE, headers=headers).json == first.json
