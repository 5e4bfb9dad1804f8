"""Ends what is left of a send: its waiting batches are closed, the credits behind them are given back.

What a worker is submitting at that moment is not touched: its turn ends as it would, and then finds the send ended.
Locks are taken in the order batch, send, account, here as everywhere. A batch that has ended has no due time, so its
`due_at` is when it ended.
"""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Connection, Row, text

from shared.ledger.ledger import REMAINDER, Entry, post
from shared.lifecycle import SendState
from shared.outbox import Moved, add_of_messages, add_of_sends

CLOSE_BATCHES = text(
    """
    WITH waiting AS (
        SELECT id FROM batch WHERE send_id = :send AND state IN ('waiting', 'queued', 'paused', 'held')
         ORDER BY id FOR UPDATE
    )
    UPDATE batch b SET state = CAST(:state AS batch_state), due_at = clock_timestamp() FROM waiting w WHERE b.id = w.id
    RETURNING b.id, b.account_id, b.size, b.segments, b.next_index, b.retry,
              b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0) AS unsent
    """
)

LOCK_SEND = text(
    """
    SELECT account_id, price, unexpanded, coalesce(unexpanded_credits, unexpanded * CAST(price AS bigint)) AS reserved,
           state
      FROM send WHERE id = :send FOR UPDATE
    """
)

CLOSE_SEND = """
    UPDATE send
       SET {counter} = {counter} + :unsent, open_batches = open_batches - :batches, unexpanded = 0,
           unexpanded_credits = unexpanded_credits * 0, expanded_to = NULL,
           state = CASE WHEN state IN ('completed', 'canceled') THEN state
                        WHEN :canceled THEN CAST('canceled' AS send_state)
                        WHEN open_batches = :batches THEN CAST('completed' AS send_state)
                        WHEN state = 'expanding' THEN CAST('sending' AS send_state)
                        ELSE state END,
           completed_at = CASE WHEN completed_at IS NULL AND open_batches = :batches THEN clock_timestamp()
                               ELSE completed_at END
     WHERE id = :send
    RETURNING state
"""


ENDS = (SendState.COMPLETED, SendState.CANCELED)


@dataclass(frozen=True, slots=True)
class Closed:
    """What was ended: how many messages, and the credits given back."""

    messages: int
    credits: int


def close_rest(connection: Connection, send: UUID, outcome: Literal["canceled", "expired"]) -> Closed:
    """Close every batch of the send that no worker has, and what is not expanded yet, as `outcome`."""
    batches = connection.execute(CLOSE_BATCHES, {"send": send, "state": outcome}).all()
    row = connection.execute(LOCK_SEND, {"send": send}).one()
    unsent = sum(batch.unsent for batch in batches) + row.unexpanded
    state = connection.execute(
        text(CLOSE_SEND.format(counter=outcome)),
        {"send": send, "unsent": unsent, "batches": len(batches), "canceled": outcome == "canceled"},
    ).scalar_one()
    if state != row.state and state in ENDS:
        add_of_sends(connection, [(row.account_id, send, state)])
    add_of_messages(connection, lambda _: [_ended(send, batch, outcome) for batch in batches])
    entries = [
        Entry(row.account_id, "release", batch.unsent * _price(row, batch), "batch", batch.id, REMAINDER)
        for batch in batches
    ]
    entries.append(Entry(row.account_id, "release", row.reserved, "send", send, REMAINDER))
    post(connection, entries)
    return Closed(unsent, sum(entry.amount for entry in entries))


def _price(send: Row[Any], batch: Row[Any]) -> int:
    """Credits for each message of the batch, which has segments of its own where the send's messages differ."""
    return int(send.price if batch.segments is None else min(send.price, batch.segments))


def _ended(send: UUID, batch: Row[Any], outcome: str) -> Moved:
    """The messages that end with their batch."""
    left = [*(batch.retry or ()), *range(batch.next_index, batch.size + 1)]
    return Moved(batch.account_id, send, batch.id, outcome, left)
