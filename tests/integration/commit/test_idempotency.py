"""A repeated request has one effect."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from api.idempotency import Key, wait_for
from shared.accounts.top_ups import top_up
from shared.db.connection import is_outage, reading
from tests.harness.event_loop_client import EventLoopClient
from tests.harness.house import wait_until
from tests.harness.service import Service
from tests.harness.times import ahead

AT_ONCE = 10
"""Requests at the same time, for which there are connections enough: each may hold one while it waits for another."""


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_a_replay_publishes_no_task(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[UUID] = []
    tasks = service.flask.extensions["bulksms"].tasks
    monkeypatch.setattr(tasks, "publish_single", published.append)
    for _ in range(3):
        service.send(headers=keyed("a"))
    assert len(published) == 1


def test_the_number_of_slashes_does_not_matter(service: Service) -> None:
    """They all find the same view: a base URL may end in one."""
    body = {"sender_id": "ACME", "phone": "254711000000", "message": "Hello"}
    sent = service.post("/sms/send", headers=keyed("c"), **body)
    for path in ("//api/v1/sms/send", "////api/v1/sms/send", "/api/v1/sms/send/"):
        headers = {"Authorization": f"Bearer {service.token}", **keyed("c")}
        again = service.client.post("/", environ_overrides={"PATH_INFO": path}, json=body, headers=headers)
        assert (again.status_code, again.data) == (200, sent.data), path
        assert again.headers["Idempotency-Replayed"] == "true", path


def test_another_path_or_account_is_another_key(service: Service) -> None:
    service.send(headers=keyed("a"))
    assert service.bulk(["254711000000"], headers=keyed("a")).status_code == 200
    other = service.new_token(service.new_account("other"))
    assert "Idempotency-Replayed" not in service.send(token=other, headers=keyed("a")).headers


def test_a_replay_is_for_the_api_key_that_made_the_request(service: Service) -> None:
    """Another key of the account gets neither the response nor a second send: the phone would have two messages."""
    first = service.send(headers=keyed("a"))
    other = service.new_token(service.account_id)
    refused = service.send(token=other, headers=keyed("a"))
    assert (refused.status_code, refused.json["code"]) == (422, "idempotency_key_reused")
    assert first.json["send_id"] not in refused.text
    assert service.send(token=other, headers=keyed("b")).status_code == 200
    assert service.get("/balance").json["balance"] == 998


def test_every_post_with_a_key_is_replayed_to_its_own_api_key_alone(service: Service) -> None:
    group = service.new_group(["254711000009"])
    send_id = service.send(send_at=ahead()).json["send_id"]
    key = service.post("/api-keys").json["api_key"]
    webhook = service.post("/webhooks", url="https://example.com/other").json["webhook_id"]
    other = service.new_token(service.account_id)
    requests: list[tuple[str, dict[str, Any]]] = [
        ("/sms/send-bulk", {"sender_id": "ACME", "phones": ["254711000000"], "message": "Hi"}),
        ("/sms/send-group", {"sender_id": "ACME", "group_id": group, "message": "Hi"}),
        ("/groups", {"name": "Replayed"}),
        (f"/groups/{group}/contacts", {"contacts": ["254711000010"]}),
        ("/suppressions", {"phones": ["254799000001"]}),
        ("/sender-ids", {"sender_id": "OTHER", "use_case": "orders"}),
        ("/erasures", {"phone": "254799000002"}),
        ("/webhooks", {"url": "https://example.com/hook"}),
        (f"/webhooks/{webhook}/rotate-secret", {}),
        ("/api-keys", {}),
        (f"/api-keys/{key}/rotate", {}),
        (f"/sends/{send_id}/cancel", {}),
    ]
    for path, body in requests:
        first = service.post(path, headers=keyed("every"), **body)
        assert first.status_code == 200, (path, first.text)
        again = service.post(path, headers=keyed("every"), **body)
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true"), path
        refused = service.post(path, token=other, headers=keyed("every"), **body)
        assert (refused.status_code, refused.json["code"]) == (422, "idempotency_key_reused"), path


def test_a_402_may_be_tried_again_after_a_top_up(service: Service) -> None:
    phones = [str(254711000000 + number) for number in range(1500)]
    assert service.bulk(phones, headers=keyed("a")).status_code == 402
    service.transact(top_up, service.account_id, 1000, "more", "more")
    assert service.bulk(phones, headers=keyed("a")).status_code == 200


def test_fifty_at_once_have_one_effect(service: Service) -> None:
    def once(_: int) -> bytes:
        response = EventLoopClient(service.flask).post(
            "/api/v1/sms/send",
            json={"sender_id": "ACME", "phone": "254711000000", "message": "Hi"},
            headers={"Authorization": f"Bearer {service.token}", **keyed("same")},
        )
        return bytes(response.data)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        responses = set(pool.map(once, range(50)))
    assert len(responses) == 1
    assert len(service.get("/sends").json["data"]) == 1
    assert service.get("/balance").json["balance"] == 999


def test_another_spelling_of_an_id_in_the_path_is_the_same_path(service: Service) -> None:
    send_id = service.send(send_at=ahead()).json["send_id"]
    first = service.post(f"/sends/{send_id}/cancel", headers=keyed("id"))
    assert first.status_code == 200
    for spelling in (send_id.upper(), f"%{ord(send_id[0]):x}{send_id[1:]}", f"{send_id[:-1]}%{ord(send_id[-1]):x}"):
        again = service.post(f"/sends/{spelling}/cancel/", headers=keyed("id"))
        assert again.headers.get("Idempotency-Replayed") == "true", spelling
        assert again.data == first.data


def test_a_request_whose_session_ends_while_it_waits_is_no_conflict(service: Service) -> None:
    """It is a 503, as with any other outage: nobody else has used the key."""
    key = Key(service.account_id, "/sms/send", "waits", b"", "")
    waiting = text("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
    with service.engine.begin() as first, ThreadPoolExecutor(1) as pool, reading(service.engine) as other:
        wait_for(first, key)

        def wait() -> None:
            service.transact(wait_for, key)

        outcome = pool.submit(wait)
        wait_until(lambda: other.execute(waiting).scalar() is not None, 60, "the second request to wait")
        pid = other.execute(waiting).scalar_one()
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(OperationalError) as ended:
            outcome.result(60)
    assert is_outage(ended.value)


def test_a_refused_request_without_a_key_needs_no_connection(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it begin anew in a thread."""
    monkeypatch.setattr("api.idempotency.reading", None)
    for path, body in (("/sms/send", {"phone": "254711000000"}), ("/sms/quote", {"phone": "254711000000"})):
        refused = service.post(path, sender_id="NOBODY", message="Hi", **body)
        assert (refused.status_code, refused.json["code"]) == (403, "sender_not_registered"), refused.text


def test_the_order_of_variables_does_not_matter(service: Service) -> None:
    values = {"name": "Ann", "code": "7"}
    headers = {"Authorization": f"Bearer {service.token}", "Content-Type": "application/json", **keyed("b")}
    bodies = [
        {"sender_id": "ACME", "phone": "254711000000", "message": "{{name}} {{code}}", "variables": dict(items)}
        for items in (values.items(), reversed(values.items()))
    ]
    first, again = (service.client.post("/api/v1/sms/send", data=json.dumps(body), headers=headers) for body in bodies)
    assert (again.status_code, again.data) == (200, first.data)
