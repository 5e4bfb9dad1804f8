"""Accepted sends: list, show, change and control them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select, text

from api.act_once import act_once
from api.auth.tokens import Caller
from api.commit.draft import encode
from api.endpoint import endpoint, need_scope, services
from api.http.bounded_queries import last_examined
from api.idempotency import IdempotentResponse
from api.problems import Problem
from api.resources.sends import control
from api.resources.sends.bottleneck import estimate, eta_of_queue, limits_of_sends, unfinished_messages
from api.resources.sends.change import apply_changes
from api.resources.sends.schemas import SendChanges, SendPaging, SendResponse
from api.resources.sends.totals import TOTALS, totals
from api.schemas.paging import newest_id
from api.schemas.rules import rules_response
from shared.db.encryption_keys import texts_of
from shared.db.tables import sends as tables
from shared.encryption import MARK, Texts
from shared.ids import FIRST_ID
from shared.lifecycle import LANES, STORED_STATUSES, MessageStatus, SendState
from shared.sends.publish_batches import publish_queued
from shared.verifications import shown

SENDS = tables.send.c
COLUMNS = ", ".join(f"s.{column.name}" for column in SENDS)
SEND = f"""
    SELECT {COLUMNS}, s.state = 'scheduled' OR coalesce(s.send_at > clock_timestamp(), false) AS ahead,
           (SELECT count(*)
              FROM batch b
             CROSS JOIN LATERAL unnest(
                       CASE WHEN cardinality(b.retry_indexes) > 0 THEN CAST(b.retry_indexes[1:b.watermark] AS int[])
                            ELSE ARRAY(SELECT generate_series(b.next_index, b.next_index + b.watermark - 1)) END
                   ) AS i (index)
             WHERE b.send_id = s.id AND b.state = 'sending' AND s.completed_at IS NULL
               AND NOT EXISTS (SELECT FROM message m
                                WHERE m.id = CAST(overlay(b.id::text placing lpad(to_hex(i.index), 4, '0') from 33)
                                                  AS uuid))) AS sending,
           {TOTALS}
      FROM send s
     WHERE s.account_id = :account
"""
"""`sending` counts the messages that may have been submitted and have no result yet. It is counted from the batches in
the same snapshot as the send's counters, so that the sum is always right."""
ONE = text(f"{SEND} AND s.id = :send")
"""One send, with its messages being sent, in one snapshot."""
PAGE = f"""
    {SEND} AND s.id < :before AND s.id >= :end
       AND (CAST(:status AS send_state) IS NULL OR s.state = :status)
       AND (CAST(:reference AS text) IS NULL OR s.reference = :reference)
"""
LIST = text(f"{PAGE} ORDER BY s.id DESC LIMIT :limit")
"""A page of sends, likewise."""
IN_PROGRESS = text(
    "completed_at IS NULL AND kind <> 'single' AND state IN ('expanding', 'queued', 'sending', 'paused', 'held')"
)
"""The condition of the index ix_send_in_progress."""
LIST_IN_PROGRESS = text(f"{PAGE} AND {IN_PROGRESS.text} ORDER BY s.id DESC LIMIT :limit")
"""A page of those in progress, likewise."""
FILTERS = ("status", "reference")
CREDIT_ERRORS = ("low_balance", "spend_limit_reached")

UNPREDICTABLE = ("quiet_hours", "canary", "carrier_down", "carrier_paused")
"""What a send can wait for longer than its progress so far tells."""
READ_SCOPE = "sms:read"
"""The scope needed to see a send, also in the response to a change."""


@endpoint("GET", "/sends", query=SendPaging, pages=newest_id(SendResponse), scope="sms:read")
def list_sends(caller: Caller, connection: Connection, query: dict[str, Any], before: UUID, limit: int) -> Any:
    """List the account's sends, newest first."""
    end, in_progress = None, query.get("in_progress", False)
    if query.keys() & set(FILTERS):
        positions = select(SENDS.id).where(SENDS.account_id == caller.account_id, SENDS.id < before)
        if in_progress:
            positions = positions.where(IN_PROGRESS)
        end = last_examined(connection, positions.order_by(SENDS.id.desc()))
    bounds = {"before": before, "end": FIRST_ID if end is None else end.id, "limit": limit}
    parameters = {"account": caller.account_id, **bounds, **{name: query.get(name) for name in FILTERS}}
    rows = connection.execute(LIST_IN_PROGRESS if in_progress else LIST, parameters).all()
    limited_by, texts = limits_of_sends(connection, rows), texts_of(connection)
    return [send_response(row, shown(texts.open(row.message, row.id), row), limited_by) for row in rows], end


@endpoint("GET", "/sends/<uuid:send_id>", response=SendResponse, scope="sms:read")
def get_send(caller: Caller, connection: Connection, send_id: UUID) -> Any:
    """Show one send: its status, counts by message status, cost, and estimated completion."""
    return read_send(connection, caller, send_id)


@endpoint("POST", "/sends/<uuid:send_id>/cancel", response=SendResponse, errors=("state_conflict",), scope="sms:send")
def cancel_send(caller: Caller, send_id: UUID) -> IdempotentResponse:
    """Cancel the messages not yet submitted to a carrier and release their credits. Also needs the scope sms:read."""
    return _control(caller, send_id, control.cancel)


@endpoint("POST", "/sends/<uuid:send_id>/pause", response=SendResponse, errors=("state_conflict",), scope="sms:send")
def pause_send(caller: Caller, send_id: UUID) -> IdempotentResponse:
    """Stop submitting messages until the send is resumed. Also needs the scope sms:read."""
    return _control(caller, send_id, control.pause)


@endpoint("POST", "/sends/<uuid:send_id>/resume", response=SendResponse, errors=("state_conflict",), scope="sms:send")
def resume_send(caller: Caller, send_id: UUID) -> IdempotentResponse:
    """Resume a paused send, or one held by its `canary` or `stop_if`. That rule then no longer applies.

    If the sender ID is suspended, rejected or pending, that holds the send from then on.

    Also needs the scope sms:read, because the response shows the send.
    """
    response = _control(caller, send_id, control.resume)
    publish_queued(services().engine, services().tasks, [send_id])
    return response


@endpoint(
    "PATCH",
    "/sends/<uuid:send_id>",
    body=SendChanges,
    response=SendResponse,
    errors=("state_conflict", "too_many_segments", "unicode_rejected", *CREDIT_ERRORS),
    scope="sms:send",
)
def update_send(caller: Caller, send_id: UUID, body: dict[str, Any]) -> Any:
    """Change when a send is due or expires, its rate, or its text.

    `send_at` and `message` can change only before sending has started, and `message` not while the operator holds the
    send. A new text is priced again, and the difference in cost is reserved or released. With null, `send_at` means
    now and `rate` means as fast as the route allows. Also needs the scope sms:read, because the response shows the
    send.
    """
    need_scope(caller, READ_SCOPE)
    with services().engine.begin() as connection:
        read_send(connection, caller, send_id)
        apply_changes(connection, send_id, body)
        changed = read_send(connection, caller, send_id)
    if changed["state"] in ("queued", "expanding"):
        publish_queued(services().engine, services().tasks, [send_id])
    return changed


def _control(caller: Caller, send_id: UUID, action: Any) -> IdempotentResponse:
    need_scope(caller, READ_SCOPE)
    texts = texts_of(services().engine)

    def act(connection: Connection) -> Any:
        read_send(connection, caller, send_id)
        action(connection, send_id)
        return read_send(connection, caller, send_id, encrypted=True)

    return _with_text(act_once(caller, None, act), texts)


def _with_text(stored_response: IdempotentResponse, texts: Texts) -> IdempotentResponse:
    """The response with its text decrypted. In the stored response, the text is as encrypted in the send's row."""
    if encode(MARK)[1:-1] not in stored_response.body:
        return stored_response
    send = json.loads(stored_response.body)
    send["message"] = texts.open(send["message"], send["send_id"])
    return IdempotentResponse(encode(send), stored_response.replayed)


def read_send(connection: Connection, caller: Caller, send_id: UUID, *, encrypted: bool = False) -> Any:
    """One of the account's sends; with `encrypted`, its text stays encrypted as in the row.

    Raises Problem send_not_found, also for another account's send.
    """
    row = connection.execute(ONE, {"send": send_id, "account": caller.account_id}).one_or_none()
    if row is None:
        raise Problem("send_not_found", f"Your account has no send {send_id}.")
    limited_by = limits_of_sends(connection, [row])
    queued = limited_by.get(row.id) in ("queue_turn", "carrier_rate", "throttled") and not row.rate
    message = row.message
    if not encrypted or row.verification_id is not None:
        message = shown(texts_of(connection).open(message, row.id), row)
    return send_response(row, message, limited_by, eta_of_queue(connection, send=send_id) if queued else None)


def send_response(row: Any, message: str, limited_by: Mapping[UUID, str], eta: datetime | None = None) -> Any:
    """A send as the API shows it. Its `accepted` is the sum of the counts by message status."""
    stored = {str(status): getattr(row, status) for status in STORED_STATUSES}
    waiting = unfinished_messages(row)
    status_ahead = MessageStatus.SCHEDULED if row.ahead else MessageStatus.QUEUED
    counts = {name: getattr(row, name) for name in ("submitted", "accepted", "duplicate", "invalid", "suppressed")}
    counts |= {"removed": row.removed, "scheduled": 0, "queued": 0, status_ahead: waiting - row.sending}
    counts |= {"sending": row.sending, **stored}
    is_held = row.state == SendState.HELD  # one that ended while it was held keeps why, for the operator
    return {
        **row._mapping,
        **totals(row),
        **rules_response(row.rules),
        "message": message,
        "counts": counts,
        "held_by": row.held_by if is_held else None,
        "held_reason": row.held_reason if is_held else None,
        "category": LANES[row.lane],
        "eta": eta or _eta(row, waiting, limited_by.get(row.id)),
        "limited_by": limited_by.get(row.id),
        "messages_url": f"/api/v1/sends/{row.id}/messages",
    }


def _eta(row: Any, waiting: int, limited_by: str | None) -> datetime | None:
    """Estimate when the last message is submitted, from the send's own rate or its progress so far."""
    if (
        not waiting
        or limited_by in UNPREDICTABLE
        or row.state in (SendState.PAUSED, SendState.HELD, SendState.CANCELED)
    ):
        return None
    now = datetime.now(UTC)
    begin = max(now, row.send_at or now)
    if row.rate:
        return estimate(begin, waiting * row.segments / row.rate)
    done = row.accepted - waiting
    elapsed = (now - max(row.created_at, row.send_at or row.created_at)).total_seconds()
    return estimate(begin, elapsed * waiting / done) if done and elapsed > 0 else None
