"""Closes the unsent part of a send (its batches that no worker has) and releases its credits.

A batch in a cycle is not touched; the cycle is finished, and then finds that the send has ended. Locks are taken in the
usual order: batch, send, account.
"""

from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, func, select

from shared.db.tables import sends as tables
from shared.ledger.ledger import REMAINDER, Entry, post
from shared.lifecycle import SendState
from shared.outbox import StatusChange, add_of_messages, add_of_sends
from shared.sends import batch_states, send_states
from shared.sends.requeue import give_back_turns

SENDS = tables.send.c
UNEXPANDED = SENDS.unexpanded * SENDS.price
LOCK_SEND = (
    select(*SENDS["account_id", "price", "unexpanded", "state"])
    .add_columns(func.coalesce(SENDS.unexpanded_credits, UNEXPANDED).label("reserved"))
    .where(SENDS.id == bindparam("send"))
    .with_for_update()
)

ENDS = (SendState.COMPLETED, SendState.CANCELED)


def close_unsent(connection: Connection, send: UUID, outcome: Literal["canceled", "expired"]) -> None:
    """Close what no worker has of the send, its batches and the part not yet expanded, as `outcome`."""
    batches = connection.execute(batch_states.CLOSE_UNSENT, {"send": send, "state": outcome}).all()
    row = connection.execute(LOCK_SEND, {"send": send}).one()
    unsent = sum(batch.unsent for batch in batches) + row.unexpanded
    state = connection.execute(
        send_states.CANCEL_REST if outcome == "canceled" else send_states.EXPIRE_REST,
        {"send": send, "unsent": unsent, "batches": len(batches), "canceled": outcome == "canceled"},
    ).scalar_one()
    if state != row.state and state in ENDS:
        add_of_sends(connection, [(row.account_id, send, state)])
    add_of_messages(connection, lambda _: [_ended(send, batch, outcome) for batch in batches])
    entries = [
        Entry(
            row.account_id,
            "release",
            batch.unsent * (row.price if batch.price is None else batch.price),
            "batch",
            batch.id,
            REMAINDER,
        )
        for batch in batches
    ]
    entries.append(Entry(row.account_id, "release", row.reserved, "send", send, REMAINDER))
    give_back_turns(connection, send)
    post(connection, entries)


def _ended(send: UUID, batch: Row[Any], outcome: str) -> StatusChange:
    """The messages that ended with their batch."""
    left = [*(batch.retry_indexes or ()), *range(batch.next_index, batch.size + 1)]
    return StatusChange(batch.account_id, send, batch.id, outcome, left)
