"""Deliveries of events to a webhook: tests, the log, and replays."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, select, update

from api.act_once import act_once
from api.auth.tokens import Caller
from api.endpoint import endpoint, key_of_request, services
from api.http.bounded_queries import filtered_page
from api.idempotency import IdempotentResponse, replay_if_repeated
from api.problems import Problem
from api.resources.deliveries.schemas import (
    DeliveryPaging,
    DeliveryResponse,
    RecoverBody,
    RecoverResponse,
    TestResponse,
)
from api.resources.webhooks.routes import find_webhook
from api.schemas.paging import newest_id
from shared.db.connection import reading
from shared.db.tables.webhooks import delivery, webhook
from shared.events.deliveries import IS_UNDELIVERED, OF_WEBHOOK, ONE, replay, replay_undelivered
from shared.events.replays import first_xid, go_back
from shared.events.stream import find
from shared.ids import first_id_at
from shared.lifecycle import EventType
from shared.outbox import add

FIELDS = (
    *delivery.c["webhook_id", "event_id", "type", "state", "attempts", "next_at", "url"],
    *delivery.c["http_status", "error", "milliseconds", "created_at", "updated_at"],
)
DELIVERY = select(*FIELDS).where(ONE)
UNDELIVERED = (
    select(delivery.c.event_id)
    .where(OF_WEBHOOK, IS_UNDELIVERED, delivery.c.event_id > bindparam("after"))
    .order_by(delivery.c.event_id)
    .limit(bindparam("limit"))
)
END_REST = update(webhook).where(webhook.c.id == bindparam("webhook")).values(rest_until=None)
END_LEASE = (
    update(webhook)
    .where(webhook.c.id == bindparam("webhook"))
    .values(rest_until=None, epoch=webhook.c.epoch + 1, lease_until=None)
)
"""Takes the webhook from the process that has its lease: what it is posting would overwrite what is replayed."""
GO_BACK = go_back(webhook).where(webhook.c.id == bindparam("webhook")).values(rest_until=None)

DELIVERIES_PER_TRANSACTION = 5_000
"""Deliveries that are replayed in one transaction: about a tenth of a second."""


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/test",
    response=TestResponse,
    errors=("state_conflict",),
    scope="webhooks:write",
)
def test_webhook(caller: Caller, connection: Connection, webhook_id: UUID) -> Any:
    """Post a `webhook.test` event to this webhook. The deliveries show its outcome."""
    if _active(connection, caller, webhook_id).url is None:
        detail = "This webhook has no `url` to test: it posts to each send's `callback_url`."
        raise Problem("state_conflict", detail)
    event_id = add(connection, caller.account_id, EventType.WEBHOOK_TEST, {"webhook_id": str(webhook_id)})
    return {"webhook_id": webhook_id, "event_id": event_id, "type": EventType.WEBHOOK_TEST}


@endpoint(
    "GET",
    "/webhooks/<uuid:webhook_id>/deliveries",
    query=DeliveryPaging,
    pages=newest_id(DeliveryResponse, "event_id"),
    scope="webhooks:read",
)
def list_deliveries(
    caller: Caller, connection: Connection, webhook_id: UUID, query: dict[str, Any], before: UUID, limit: int
) -> Any:
    """List the webhook's deliveries, newest first, without events that wait for their first attempt."""
    event_id = delivery.c.event_id
    listed = select(*FIELDS).where(delivery.c.webhook_id == webhook_id, event_id < before)
    filters = [delivery.c.state == query["status"]] if "status" in query else []
    find_webhook(connection, caller, webhook_id)
    return filtered_page(connection, listed, [event_id], filters, limit, newest_first=True)


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/deliveries/<uuid:event_id>/replay",
    response=DeliveryResponse,
    errors=("state_conflict",),
    scope="webhooks:write",
)
def replay_delivery(caller: Caller, connection: Connection, webhook_id: UUID, event_id: UUID) -> Any:
    """Post an event to this webhook again, with the same id, whatever its status."""
    _active(connection, caller, webhook_id)
    if not replay(connection, webhook_id, event_id):
        raise Problem("delivery_not_found", f"The event {event_id} was not posted to this webhook.")
    if find(connection, caller.account_id, event_id) is None:
        raise Problem("state_conflict", "The event is too old and no longer stored.")
    return connection.execute(DELIVERY, {"webhook": webhook_id, "event": event_id}).one()


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/recover",
    body=RecoverBody,
    response=RecoverResponse,
    errors=("state_conflict",),
    scope="webhooks:write",
)
def recover_webhook(caller: Caller, webhook_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Post all undelivered events since a time, including those that happened while the webhook was disabled."""
    since = body["since"]
    key = key_of_request(caller, body)
    with reading(services().engine) as connection:
        repeated = replay_if_repeated(connection, key)
        if repeated is not None:
            return repeated
        _active(connection, caller, webhook_id, lock=False)
    _replay_pages(caller, webhook_id, first_id_at(since))
    # Before the transaction writes, because readers of events wait for that.
    with reading(services().engine) as connection:
        xid = first_xid(connection, caller.account_id, since)

    def act(connection: Connection) -> dict[str, Any]:
        _active(connection, caller, webhook_id)
        connection.execute(END_REST, {"webhook": webhook_id})
        if xid is not None:
            connection.execute(GO_BACK, {"webhook": webhook_id, "xid_then": xid})
        return {"webhook_id": webhook_id, "since": since}

    return act_once(caller, body, act)


def _replay_pages(caller: Caller, webhook_id: UUID, after: UUID) -> None:
    """Replay the webhook's undelivered events after an id, each page in its own transaction: readers of events wait for
    whoever has written.

    If the request fails between them, its repetition goes on with the rest.
    """
    while True:
        page_of_ids = {"webhook": webhook_id, "after": after, "limit": DELIVERIES_PER_TRANSACTION}
        with services().engine.begin() as connection:
            # First, because the search may pass any number of delivered events, and the lock is a write.
            undelivered = connection.execute(UNDELIVERED, page_of_ids).scalars().all()
            if undelivered:
                _active(connection, caller, webhook_id)
                connection.execute(END_LEASE, {"webhook": webhook_id})
                replay_undelivered(connection, webhook_id, undelivered)
        if len(undelivered) < DELIVERIES_PER_TRANSACTION:
            return
        after = undelivered[-1]


def _active(connection: Connection, caller: Caller, webhook_id: UUID, *, lock: bool = True) -> Row[Any]:
    found = find_webhook(connection, caller, webhook_id, lock=lock)
    if found.state != "active":
        raise Problem("state_conflict", "The webhook is disabled. Enable it first.")
    return found
