"""Change an accepted send: its time, validity, rate or text.

Locks are taken in the order batch, send, account. A send that a worker has started keeps its text and time, and one
that is held for the operator keeps its text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, Text, cast
from sqlalchemy.exc import IntegrityError

from api.accept.accept import due_time, expiry_time, is_default
from api.accept.text import parse_template, prepare_text, render_one
from api.commit.low_balance import refused_reserve, spend_limit_reached
from api.problems import invalid
from api.resources.sends import queries
from api.resources.sends.control import state_conflict
from shared.db.encryption_keys import texts_of
from shared.db.tables.sends import send as sends
from shared.ledger.ledger import REMAINDER, Entry, ReserveRefused, post
from shared.ledger.spend_limits import standings
from shared.lifecycle import SendState
from shared.sends import batch_states, fair_queueing, send_states
from shared.sends.holding import HELD_FOR_OPERATOR
from shared.sends.requeue import give_back_turns, requeue_send, reset_turns

OF_SEGMENTS = ("price", "cost", "unexpanded_credits")
"""Columns of a send that are multiples of its segments."""


@dataclass(frozen=True, slots=True)
class Locked:
    """A send whose row and batches are locked until the transaction ends."""

    send: Row[Any]
    untouched: bool
    """Whether nothing of it was sent or tried, and no worker has any of it."""


def apply_changes(connection: Connection, send: UUID, changes: Mapping[str, Any]) -> None:
    """Make all the changes or none. Raises Problem state_conflict if it is too late for one of them."""
    locked = _lock(connection, send)
    state = SendState(locked.send.state)
    if state in (SendState.COMPLETED, SendState.CANCELED):
        raise state_conflict(state, "be changed")
    if ("send_at" in changes or "message" in changes) and not locked.untouched:
        raise state_conflict(state, "change its time or text: sending has begun")
    if "message" in changes and locked.send.held_by in HELD_FOR_OPERATOR:
        raise state_conflict(state, "change its text until the operator releases it")
    send_at, expires_at = _times(locked.send, changes)
    if "message" in changes:
        _set_text(connection, locked.send, changes)
    clock = fair_queueing.clock(connection)
    if "send_at" in changes:
        assert send_at is not None
        _reschedule(connection, send, send_at)
    if expires_at != locked.send.expires_at:
        connection.execute(queries.CHANGE.values(expires_at=expires_at), {"send": send})
    if "rate" in changes:
        connection.execute(queries.CHANGE.values(rate=changes["rate"], paced_until=None), {"send": send})
    if "send_at" in changes:
        give_back_turns(connection, send)
    if changes.keys() & {"message", "send_at", "rate"}:
        requeue_send(connection, send, clock)


def _lock(connection: Connection, send: UUID) -> Locked:
    locked = len(connection.execute(queries.LOCK_BATCHES, {"send": send}).all())
    row = connection.execute(queries.LOCK_SEND, {"send": send}).one()
    batches = connection.execute(queries.BATCHES, {"send": send}).one()
    # Batches added since they were locked belong to an expansion in progress.
    return Locked(row, untouched=batches.untouched and batches.number == locked)


def _times(send: Row[Any], changes: Mapping[str, Any]) -> tuple[datetime | None, datetime]:
    """When the changed send is due and when it expires. Raises Problem for inconsistent times.

    A send that is due now gets this time, as a default `expires_at` is counted from it.
    """
    now = datetime.now(UTC)
    send_at = due_time(changes["send_at"], now) or now if "send_at" in changes else send.send_at
    due = max(now, send_at or now)
    if "send_at" in changes and is_default(send.expires_at, send.send_at, send.created_at):
        return send_at, expiry_time(changes.get("expires_at"), due, now)
    return send_at, expiry_time(changes.get("expires_at", send.expires_at), due, now)


def _reschedule(connection: Connection, send: UUID, send_at: datetime) -> None:
    ahead = send_at > datetime.now(UTC)
    values = {"send": send, "ahead": ahead, "due_at": send_at}
    connection.execute(batch_states.RESCHEDULE, values)
    connection.execute(send_states.RESCHEDULE, {"send": send, "ahead": ahead, "send_at": send_at})


def _set_text(connection: Connection, send: Row[Any], changes: Mapping[str, Any]) -> None:
    """Replace the text, and reserve or release the difference in cost."""
    if send.on_unicode is not None:
        raise state_conflict(send.state, "change its text, because the text differs by recipient")
    template = parse_template(changes["message"])
    if template is not None and template.placeholders:
        detail = "A send that was accepted without placeholders cannot get placeholders later."
        raise invalid([{"pointer": "/message", "code": "invalid", "detail": detail}])
    text = changes["message"] if template is None else render_one(template, {})
    reserved = int(connection.execute(queries.RESERVED, {"send": send.id}).scalar_one())
    message, segmentation = prepare_text(text, changes, reserved // send.segments)
    if segmentation.count != send.segments:
        reset_turns(connection, send.id, costs_more=segmentation.count > send.segments)
    scaled = {name: sends.c[name] // send.segments * segmentation.count for name in OF_SEGMENTS}
    change = queries.CHANGE.values(
        message=texts_of(connection).seal(message, send.id),
        encoding=segmentation.encoding,
        characters=segmentation.characters,
        segments=segmentation.count,
        smpp=sends.c.smpp.op("-")(cast("part", Text)),
        **scaled,
    )
    connection.execute(change, {"send": send.id})
    connection.execute(queries.SCALE_PRICES, {"send": send.id, "before": send.segments, "after": segmentation.count})
    more = reserved // send.segments * (segmentation.count - send.segments)
    if more:
        _pay(connection, send, more)


def _pay(connection: Connection, send: Row[Any], more: int) -> None:
    """Reserve the additional cost, within the balance and spend limits, or release the saved cost."""
    try:
        post(connection, [_difference(connection, send, more)])
    except ReserveRefused:
        raise refused_reserve(connection, send.account_id, more) from None
    if more > 0:
        try:
            with connection.begin_nested():
                connection.execute(queries.COUNT_MORE, {"id": send.account_id, "more": more})
        except IntegrityError:
            raise spend_limit_reached(more, standings(connection, send.account_id)) from None


def _difference(connection: Connection, send: Row[Any], more: int) -> Entry:
    """The ledger entry of a text change, with a step that no other operation of the send uses."""
    steps = connection.execute(queries.LAST_STEPS, {"send": send.id}).one()
    if more > 0:
        return Entry(send.account_id, "reserve", more, "send", send.id, steps.reserve + 1)
    return Entry(send.account_id, "release", -more, "send", send.id, min(steps.release, REMAINDER) - 1)
