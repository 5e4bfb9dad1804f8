"""Deliveries of events to a webhook: tests, the log, and replays."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, text

from api.auth.tokens import Caller
from api.commit.draft import encode
from api.commit.idempotency import IdempotentResponse, once
from api.endpoint import endpoint, key_of_request, services
from api.http.bounded_queries import last_examined, reading_list
from api.http.pagination import page, uuid_cursor
from api.problems import Problem, invalid
from api.resources.deliveries.schemas import (
    DeliveryPaging,
    DeliveryResponse,
    RecoverBody,
    RecoverResponse,
    TestResponse,
)
from api.resources.webhooks.routes import find_webhook
from api.schemas.paging import page_of
from shared.events.stream import find
from shared.ids import first_id_at
from shared.outbox import EventType, add

FIELDS = """
    webhook_id, event_id, type, state, attempts, next_at, url, http_status, error, milliseconds, created_at, updated_at
"""
EXAMINED = text(
    """
    SELECT event_id FROM delivery
     WHERE webhook_id = :webhook AND (CAST(:before AS uuid) IS NULL OR event_id < :before)
     ORDER BY event_id DESC OFFSET :most LIMIT 1
    """
)
DELIVERIES = text(
    f"""
    SELECT {FIELDS} FROM delivery
     WHERE webhook_id = :webhook AND (CAST(:before AS uuid) IS NULL OR event_id < :before)
       AND (CAST(:end AS uuid) IS NULL OR event_id >= :end)
       AND (CAST(:state AS text) IS NULL OR state = :state)
     ORDER BY event_id DESC LIMIT :limit
    """
)
DELIVERY = text(f"SELECT {FIELDS} FROM delivery WHERE webhook_id = :webhook AND event_id = :event")
REPLAY = text(
    """
    UPDATE delivery SET state = 'pending', attempts = 0, next_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE webhook_id = :webhook AND event_id = :event
    """
)
AGAIN = text(
    """
    UPDATE delivery SET state = 'pending', attempts = 0, next_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE webhook_id = :webhook AND state IN ('failed', 'pending') AND event_id >= :first
    """
)
"""Post again at once what has failed, or waits for its next attempt."""
END_REST = text("UPDATE webhook SET rest_until = NULL WHERE id = :webhook")
GO_BACK = text(
    """
    UPDATE webhook w SET xid = e.xid, event_id = e.id, rest_until = NULL, epoch = epoch + 1, lease_until = NULL
      FROM (SELECT xid, CAST('00000000-0000-0000-0000-000000000000' AS uuid) AS id FROM event
             WHERE account_id = :account AND id >= :first ORDER BY xid LIMIT 1) e
     WHERE w.id = :webhook AND (e.xid, e.id) < (w.xid, w.event_id)
    """
)

DELIVERY_RESPONSE, TESTED, RECOVERED = DeliveryResponse(), TestResponse(), RecoverResponse()


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/test",
    response=TestResponse,
    errors=("webhook_not_found", "state_conflict"),
    scope="webhooks:write",
)
def test_webhook(caller: Caller, webhook_id: UUID) -> IdempotentResponse:
    """Post a `webhook.test` event to this webhook. The deliveries show its outcome."""
    key = key_of_request(caller, None)
    with services().engine.begin() as connection:

        def act() -> str:
            if _active(connection, caller, webhook_id).url is None:
                raise Problem(
                    "state_conflict", "This webhook has no `url` to test: it posts to each send's `callback_url`."
                )
            event = add(connection, caller.account_id, EventType.WEBHOOK_TEST, {"webhook_id": str(webhook_id)})
            return encode(
                TESTED.dump({"webhook_id": webhook_id, "event_id": event, "type": str(EventType.WEBHOOK_TEST)})
            )

        return once(connection, key, act)


@endpoint(
    "GET",
    "/webhooks/<uuid:webhook_id>/deliveries",
    query=DeliveryPaging,
    response=page_of(DeliveryResponse),
    errors=("webhook_not_found", "validation_failed"),
    scope="webhooks:read",
)
def deliveries(caller: Caller, webhook_id: UUID, query: dict[str, Any]) -> Any:
    """List the webhook's deliveries, newest first, without events that wait for their first attempt."""
    parameters: dict[str, Any] = {
        "webhook": webhook_id,
        "before": uuid_cursor(query.get("cursor")),
        "state": query.get("status"),
        "limit": query["limit"] + 1,
    }
    with reading_list(services().engine) as connection:
        find_webhook(connection, caller, webhook_id)
        end = last_examined(connection, EXAMINED, parameters) if "status" in query else None
        parameters["end"] = end and end.event_id
        rows = connection.execute(DELIVERIES, parameters).all()
    return page(rows, query["limit"], DELIVERY_RESPONSE.dump, lambda row: str(row.event_id), end)


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/deliveries/<uuid:event_id>/replay",
    response=DeliveryResponse,
    errors=("webhook_not_found", "delivery_not_found", "state_conflict"),
    scope="webhooks:write",
)
def replay_delivery(caller: Caller, webhook_id: UUID, event_id: UUID) -> IdempotentResponse:
    """Post an event to this webhook again, with the same id, whatever its status."""
    key = key_of_request(caller, None)
    with services().engine.begin() as connection:

        def act() -> str:
            _active(connection, caller, webhook_id)
            delivery = {"webhook": webhook_id, "event": event_id}
            if not connection.execute(REPLAY, delivery).rowcount:
                raise Problem("delivery_not_found", f"The event {event_id} was not posted to this webhook.")
            if find(connection, caller.account_id, event_id) is None:
                raise Problem("state_conflict", "The event is too old and no longer stored.")
            return encode(DELIVERY_RESPONSE.dump(connection.execute(DELIVERY, delivery).one()))

        return once(connection, key, act)


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/recover",
    body=RecoverBody,
    response=RecoverResponse,
    errors=("webhook_not_found", "state_conflict"),
    scope="webhooks:write",
)
def recover(caller: Caller, webhook_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Post all undelivered events since a time, including those that happened while the webhook was disabled."""
    since = body["since"]
    if since > datetime.now(UTC):
        raise invalid([{"pointer": "/since", "code": "invalid_time", "detail": "Use a time in the past."}])
    key = key_of_request(caller, body)
    with services().engine.begin() as connection:

        def act() -> str:
            _active(connection, caller, webhook_id)
            first = first_id_at(max(since, datetime(1970, 1, 2, tzinfo=UTC)))
            connection.execute(AGAIN, {"webhook": webhook_id, "first": first})
            connection.execute(END_REST, {"webhook": webhook_id})
            connection.execute(GO_BACK, {"webhook": webhook_id, "account": caller.account_id, "first": first})
            return encode(RECOVERED.dump({"webhook_id": webhook_id, "since": since}))

        return once(connection, key, act)


def _active(connection: Connection, caller: Caller, webhook_id: UUID) -> Row[Any]:
    webhook = find_webhook(connection, caller, webhook_id, lock=True)
    if webhook.state != "active":
        raise Problem("state_conflict", "The webhook is disabled. Enable it first.")
    return webhook
