"""Webhooks from end to end: events of real sends, posted to a receiver, signed, tried again, replayed and recovered."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from shared import outbox
from shared.lifecycle import EventType
from tests.harness.deliveries import deliver, settled_events
from tests.harness.receiver import Post, Receiver, receiver
from tests.harness.service import Service
from tests.integration.loopback import local_receiver, loopback_service
from worker.jobs.retention import forget
from worker.webhooks import client as webhook_client
from worker.webhooks import policy
from worker.webhooks.client import Client
from worker.webhooks.deliver import Deliverer
from worker.webhooks.prune import prune
from worker.webhooks.renumber import mend_order


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed waits for `due_now`, however long. Receivers may take their time."""
    for limit in ("RESPONSE_SECONDS", "OPENING_SECONDS"):
        monkeypatch.setattr(webhook_client, limit, 300.0)
    monkeypatch.setattr(policy, "DELAYS", (3600.0,) * len(policy.DELAYS))
    monkeypatch.setattr(policy, "FIRST_REST", policy.MAX_REST)


service = loopback_service
there = local_receiver


def hook(service: Service, to: Receiver, **more: Any) -> dict[str, Any]:
    """A new webhook to the receiver."""
    response = service.post("/webhooks", url=to.url, **more)
    assert response.status_code == 200, response.json
    made: dict[str, Any] = response.json
    return made


def deliveries(service: Service, made: dict[str, Any]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = service.get(f"/webhooks/{made['webhook_id']}/deliveries").json["data"]
    return listed


def due_now(service: Service) -> None:
    """Let whatever waits be due."""
    service.execute("UPDATE delivery SET next_at = now() WHERE state = 'pending'")
    service.execute("UPDATE webhook SET rest_until = NULL")


def test_it_works(service: Service, there: Receiver) -> None:
    made = hook(service, there)
    response = service.send(reference="order 1").json
    service.deliver_receipts()
    deliver(service)
    verifier = Webhook(made["secret"])
    payloads = {post.payload["type"]: verifier.verify(post.body, post.headers) for post in there.posts}
    assert set(payloads) == {"message.sent", "send.completed", "message.delivered"}
    delivered = payloads["message.delivered"]["data"]
    assert (delivered["message_id"], delivered["phone"]) == (response["message_id"], response["phone"])
    assert (delivered["status"], delivered["reference"], delivered["error"]) == ("delivered", "order 1", None)
    assert delivered["sequence"] > payloads["message.sent"]["data"]["sequence"]
    assert payloads["send.completed"]["data"]["counts"]["delivered"] == 1
    log = deliveries(service, made)
    assert {entry["event_id"] for entry in log} == set(there.ids())
    assert {(entry["status"], entry["attempts"], entry["http_status"]) for entry in log} == {("delivered", 1, 204)}
    with pytest.raises(WebhookVerificationError):
        verifier.verify(there.posts[0].body + b" ", there.posts[0].headers)


def test_the_stream_has_the_same_events_with_the_same_ids(service: Service, there: Receiver) -> None:
    hook(service, there)
    service.bulk([f"25471100{n:04d}" for n in range(30)])
    service.deliver_receipts()
    deliver(service)
    listed, cursor = [], ""
    while True:
        page = service.get(f"/events?limit=7{cursor}").json
        listed += page["data"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert len(listed) == 61
    assert {event["event_id"]: (event["type"], event["data"]) for event in listed} == {
        post.id: (post.payload["type"], post.payload["data"]) for post in there.posts
    }
    after = listed[29]["event_id"]
    rest = service.get(f"/events?after={after}").json["data"]
    assert [event["event_id"] for event in rest] == [event["event_id"] for event in listed[30:]]
    only = service.get("/events?types=send.completed,message.failed").json["data"]
    assert [event["type"] for event in only] == ["send.completed"]


def test_only_subscribed_events_are_posted(service: Service, there: Receiver) -> None:
    hook(service, there, events=["message.failed"])
    service.bulk(["254711000001", "99902000001"])
    service.deliver_receipts()
    deliver(service)
    assert [(post.payload["type"], post.payload["data"]["phone"]) for post in there.posts] == [
        ("message.failed", "99902000001")
    ]


def test_a_failure_is_tried_again_with_the_same_id(service: Service, there: Receiver) -> None:
    there.respond = lambda post: 204 if len(there.posts) % 2 == 0 else 500
    made = hook(service, there, events=["message.sent"])
    service.send()
    deliver(service)
    failed = deliveries(service, made)
    assert [(entry["status"], entry["attempts"], entry["http_status"]) for entry in failed] == [("pending", 1, 500)]
    assert service.get(f"/webhooks/{made['webhook_id']}").json["failing_since"] is not None
    due_now(service)
    deliver(service)
    assert len(there.posts) == 2
    assert len(set(there.ids())) == 1
    assert [(entry["status"], entry["attempts"]) for entry in deliveries(service, made)] == [("delivered", 2)]
    assert service.get(f"/webhooks/{made['webhook_id']}").json["failing_since"] is None


def test_an_event_is_given_up_after_ten_attempts(service: Service, there: Receiver) -> None:
    there.respond = lambda post: (302, {"Location": there.url})
    made = hook(service, there, events=["message.sent"])
    service.send()
    for _ in range(12):
        deliver(service)
        due_now(service)
    assert len(there.posts) == 10
    assert [(entry["status"], entry["attempts"]) for entry in deliveries(service, made)] == [("failed", 10)]


def test_a_failing_webhook_pauses_and_loses_no_event(service: Service, there: Receiver) -> None:
    there.respond = lambda post: 503
    hook(service, there, events=["message.sent"])
    service.bulk([f"25471100{n:04d}" for n in range(50)])
    deliver(service)
    tried = len(there.posts)
    assert tried < 10
    deliver(service)
    assert len(there.posts) == tried
    there.respond = lambda post: 200
    due_now(service)
    deliver(service)
    due_now(service)
    deliver(service)
    assert len(set(there.ids())) == 50
    assert len(there.posts) == tried + 50


def test_410_disables_the_webhook_and_writes_an_event(service: Service, there: Receiver) -> None:
    there.respond = lambda post: 410
    made = hook(service, there)
    service.send()
    deliver(service)
    shown = service.get(f"/webhooks/{made['webhook_id']}").json
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "It responded with 410 Gone.")
    disabled = settled_events(service, "?types=webhook.disabled")
    assert [event["data"]["webhook_id"] for event in disabled] == [made["webhook_id"]]
    posted = len(there.posts)
    service.send()
    deliver(service)
    assert len(there.posts) == posted


def test_what_fails_for_days_is_disabled(service: Service, there: Receiver) -> None:
    there.respond = lambda post: 500
    made = hook(service, there)
    service.send()
    deliver(service)
    service.execute("UPDATE webhook SET failing_since = now() - interval '6 days'")
    due_now(service)
    deliver(service)
    assert service.get(f"/webhooks/{made['webhook_id']}").json["status"] == "disabled"


def test_what_was_missed_is_recovered(service: Service, there: Receiver) -> None:
    made = hook(service, there, events=["message.sent"])
    path, before = f"/webhooks/{made['webhook_id']}", datetime.now(UTC) - timedelta(seconds=1)
    service.send()
    deliver(service)
    service.client.patch(f"/api/v1{path}", json={"status": "disabled"}, headers=service._headers(None, {}))
    service.send()
    assert service.post(f"{path}/recover", since=before.isoformat()).json["code"] == "state_conflict"
    service.client.patch(f"/api/v1{path}", json={"status": "active"}, headers=service._headers(None, {}))
    deliver(service)
    assert len(there.posts) == 1
    assert service.post(f"{path}/recover", since=before.isoformat()).status_code == 200
    deliver(service)
    assert len(there.posts) == len(set(there.ids())) == 2


def test_a_delivery_is_replayed(service: Service, there: Receiver) -> None:
    made = hook(service, there, events=["message.sent"])
    service.send()
    deliver(service)
    path = f"/webhooks/{made['webhook_id']}/deliveries/{there.posts[0].id}/replay"
    assert service.post(path).json["status"] == "pending"
    deliver(service)
    assert len(there.posts) == 2
    assert there.posts[0].id == there.posts[1].id
    assert there.posts[0].body == there.posts[1].body
    unknown = path.replace(there.posts[0].id, made["webhook_id"])
    assert service.post(unknown).json["code"] == "delivery_not_found"


def test_a_test_event_goes_only_to_its_webhook(service: Service, there: Receiver) -> None:
    with receiver() as other:
        hook(service, other)
        made = hook(service, there, events=["message.failed"])
        response = service.post(f"/webhooks/{made['webhook_id']}/test").json
        deliver(service)
        assert [(post.id, post.payload["type"]) for post in there.posts] == [(response["event_id"], "webhook.test")]
        assert other.posts == []


def test_another_rotation_ends_no_secret_early(service: Service, there: Receiver) -> None:
    made = hook(service, there, events=["message.sent"])
    path = f"/webhooks/{made['webhook_id']}/rotate-secret"
    secrets = [made["secret"]] + [service.post(path).json["secret"] for _ in range(4)]
    assert (service.post(path).status_code, service.post(path).json["code"]) == (409, "state_conflict")
    service.send()
    deliver(service)
    for secret in secrets:
        Webhook(secret).verify(there.posts[0].body, there.posts[0].headers)
    service.execute("UPDATE webhook SET previous_until = now()")
    last = service.post(path).json["secret"]
    service.send()
    deliver(service)
    for secret, valid in ((secrets[3], False), (secrets[4], True), (last, True)):
        if valid:
            Webhook(secret).verify(there.posts[1].body, there.posts[1].headers)
        else:
            with pytest.raises(WebhookVerificationError):
                Webhook(secret).verify(there.posts[1].body, there.posts[1].headers)


def test_a_repeated_request_gets_the_secret_again_and_it_is_stored_nowhere(service: Service, there: Receiver) -> None:
    first = service.post("/webhooks", url=there.url, headers={"Idempotency-Key": "hook"})
    again = service.post("/webhooks", url=there.url, headers={"Idempotency-Key": "hook"})
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == first.json
    assert "secret" not in service.get(f"/webhooks/{first.json['webhook_id']}").json
    with service.engine.connect() as connection:
        for table in ("webhook", "idempotency", "audit_log"):
            stored = connection.execute(text(f"SELECT string_agg(CAST(t AS text), '') FROM {table} t")).scalar()
            assert first.json["secret"].removeprefix("whsec_") not in stored


def test_a_send_has_a_callback_of_its_own(service: Service, there: Receiver) -> None:
    with receiver(lambda post: 500) as broken:
        dead = service.send(callback_url=broken.url + "?dead").json
        assert service.get(f"/sends/{dead['send_id']}").json["callback_url"] == broken.url + "?dead"
        service.send("254711000002", callback_url=there.url + "?a")
        service.bulk(["254711000003", "254711000004"], callback_url=there.url + "?b")
        service.send("254711000005")
        service.deliver_receipts()
        deliver(service)
    posted = [(post.path, post.payload["type"], post.payload["data"].get("phone")) for post in there.posts]
    assert sorted(posted, key=str) == sorted(
        [
            *[
                (f"/hook?{of}", type, phone)
                for of, phone in (("a", "254711000002"), ("b", "254711000003"), ("b", "254711000004"))
                for type in ("message.sent", "message.delivered")
            ],
            ("/hook?a", "send.completed", None),
            ("/hook?b", "send.completed", None),
        ],
        key=str,
    )
    (callbacks,) = service.get("/webhooks").json["data"]
    assert callbacks["url"] is None
    path = f"/webhooks/{callbacks['webhook_id']}"
    assert {entry["status"] for entry in deliveries(service, callbacks)} == {"delivered", "pending"}
    secret = service.post(f"{path}/rotate-secret").json["secret"]
    service.send(callback_url=there.url)
    deliver(service)
    Webhook(secret).verify(there.posts[-1].body, there.posts[-1].headers)


def test_a_callback_is_given_up_when_its_send_is_forgotten(service: Service, there: Receiver) -> None:
    there.respond = lambda post: 500
    service.send(callback_url=there.url)
    service.deliver_receipts()
    deliver(service)
    posts = len(there.posts)
    (callbacks,) = service.get("/webhooks").json["data"]
    assert {entry["status"] for entry in deliveries(service, callbacks)} == {"pending"}
    forget(service.engine, 1, datetime.now(UTC) + timedelta(days=2))
    due_now(service)
    deliver(service)
    assert {entry["status"] for entry in deliveries(service, callbacks)} == {"failed"}
    assert len(there.posts) == posts


def test_old_events_and_deliveries_are_deleted(service: Service, there: Receiver) -> None:
    made = hook(service, there)
    service.send()
    deliver(service)
    prune(service.engine)
    assert len(service.get("/events").json["data"]) == 2
    for table, column in (("event", "id"), ("delivery", "event_id")):
        service.execute(f"UPDATE {table} SET {column} = CAST('018' || right(CAST({column} AS text), 33) AS uuid)")
    prune(service.engine)
    assert service.get("/events").json["data"] == []
    assert deliveries(service, made) == []
    service.client.delete(f"/api/v1/webhooks/{made['webhook_id']}", headers=service._headers(None, {}))
    prune(service.engine)
    gone = {"account": service.account_id}
    assert service.scalar("SELECT count(*) FROM webhook WHERE account_id = :account", **gone) == 0


def test_an_event_of_an_open_transaction_is_waited_for_and_never_skipped(service: Service, there: Receiver) -> None:
    """An event of a transaction that began earlier and commits later comes first, and is in its place for everybody."""
    made = hook(service, there)
    with service.engine.connect() as slow, service.engine.connect() as quick:
        early = outbox.add(slow, service.account_id, EventType.SEND_HELD, {"n": 1})
        late = outbox.add(quick, service.account_id, EventType.SEND_HELD, {"n": 2})
        quick.commit()
        assert service.get("/events").json["data"] == []
        deliver(service, among_others=True)
        assert there.posts == []
        slow.commit()
    expected = [str(early), str(late)]
    assert [event["event_id"] for event in settled_events(service)] == expected
    deliver(service)
    assert sorted(there.ids()) == sorted(expected)
    assert len(deliveries(service, made)) == 2


def test_a_hanging_receiver_delays_no_other(service: Service, there: Receiver) -> None:
    """The healthy one's events have come while those of ten others still wait for a response."""
    release, hung = threading.Event(), threading.Semaphore(0)

    def hang(post: Post) -> int:
        hung.release()
        return 500 if release.wait(200) else 504

    async def run() -> None:
        client = Client(loopback=True)
        deliverer = Deliverer(service.engine, client, service.settings.secret_key)
        running = asyncio.create_task(deliverer.run())
        assert await asyncio.to_thread(lambda: all(hung.acquire(timeout=60) for _ in range(10)))
        await asyncio.to_thread(service.send)
        while len(there.posts) < 2:
            await asyncio.sleep(0.02)
        assert not release.is_set()
        release.set()
        deliverer.stop.set()
        await running
        await client.close()

    with receiver(hang) as dead:
        for _ in range(10):
            hook(service, dead)
        service.send()
        hook(service, there)
        asyncio.run(asyncio.wait_for(run(), 90))
    assert {post.payload["type"] for post in there.posts} >= {"message.sent", "send.completed"}


def test_a_restored_dump_is_put_into_order(service: Service, there: Receiver) -> None:
    hook(service, there, events=["message.sent"])
    service.send()
    deliver(service)
    with receiver() as new:
        hook(service, new, events=["message.sent"])
        service.send()
        service.execute("UPDATE event SET xid = xid + 1000000000")
        service.execute("UPDATE webhook SET xid = xid + 1000000000")
        assert service.get("/events").json["data"] == []
        assert mend_order(service.engine) > 0
        assert mend_order(service.engine) == 0
        assert len(settled_events(service, "?types=message.sent")) == 2
        service.send()
        deliver(service)
        assert len(there.posts) == len(set(there.ids())) == 3
        assert set(new.ids()) == {*there.ids()} - {there.posts[0].id}


def test_an_erased_phone_is_in_no_webhook(service: Service, there: Receiver) -> None:
    hook(service, there, events=["message.sent"])
    response = service.bulk(["254711000001", "254711000002"]).json
    batch = {"batch": response["messages"][0]["message_id"][:-4] + "0000"}
    service.execute("UPDATE batch SET recipients = E'0\\n254711000002' WHERE id = :batch", **batch)
    deliver(service)
    assert sorted(str(post.payload["data"]["phone"]) for post in there.posts) == ["254711000002", "None"]
