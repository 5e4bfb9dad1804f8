"""Cancels one message that no worker has, and releases its credits: all in the connection's transaction.

The batch is locked, and then like one whose cycle has ended with this result. A claim that came first is seen, and
nothing is changed; a later one does not find the message. Locks are taken in the usual order: batch, send, account.
"""

from collections import Counter
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, func, insert, select, text

from shared.db.tables.messages import message
from shared.db.tables.sends import batch
from shared.ids import batch_of, index_of
from shared.ledger.ledger import Entry, post
from shared.lifecycle import MessageStatus, SendState
from shared.outbox import StatusChange, add_of_messages, add_of_sends
from shared.sends import batch_states
from shared.sends.batch_prices import PRICE
from shared.sends.close_unsent import close_unsent
from shared.sends.counters import add_and_close
from shared.sends.rest_of_batch import Rest, rest_of, split_postponed

LOCK_BATCH = select(batch).where(batch.c.id == bindparam("batch")).with_for_update()
LOCK_SEND = text(
    f"""
    SELECT s.accepted, {PRICE} AS price FROM send s JOIN batch b ON b.send_id = s.id
     WHERE b.id = :batch FOR UPDATE OF s
    """
)
"""A statement of its own, after LOCK_BATCH: whoever changes the price has locked the batch."""
ADD_RESULT = insert(message).values(
    status=MessageStatus.CANCELED, submitted_at=func.clock_timestamp(), finished_at=func.clock_timestamp(), attempts=0
)


def cancel_one(connection: Connection, identifier: UUID) -> None:
    """Cancel a message of a batch that exists. Changes nothing if a worker has the batch, or the message has a result.

    The only message of a send is canceled with it.
    """
    row = connection.execute(LOCK_BATCH, {"batch": batch_of(identifier)}).one()
    index = index_of(identifier)
    rest = _rest_without(row, index)
    if row.state not in batch_states.NOT_TAKEN_STATES or rest is None:
        return
    send = connection.execute(LOCK_SEND, {"batch": row.id}).one()
    if send.accepted == 1:
        close_unsent(connection, row.send_id, "canceled")
        return
    phone = int(row.recipients.split("\n")[index - 1])
    connection.execute(ADD_RESULT, {"id": identifier, "phone": phone, "price": send.price})
    is_last = not rest.retry_indexes and rest.next_index > row.size
    connection.execute(batch_states.LEAVE_OUT, {"batch": row.id, "is_last": is_last, **rest._asdict()})
    counted = {row.send_id: Counter[str]({MessageStatus.CANCELED: 1})}
    ended = add_and_close(connection, counted, Counter({row.send_id: int(is_last)}))
    add_of_sends(connection, [(account, id, state) for id, account, state in ended if state == SendState.COMPLETED])
    change = StatusChange(row.account_id, row.send_id, row.id, MessageStatus.CANCELED, [index])
    add_of_messages(connection, lambda _: [change])
    post(connection, [Entry(row.account_id, "release", send.price, "message", identifier)])


def _rest_without(row: Row[Any], index: int) -> Rest | None:
    """What is left of the batch without one of its messages; None if that one has a result."""
    first, postponed = split_postponed(row.retry_indexes or [], row.postponed)
    next_index = row.next_index
    if index >= next_index:
        first, next_index = [*first, *range(next_index, index)], index + 1
    elif index not in (row.retry_indexes or ()):
        return None
    unsent, later = ([each for each in indexes if each != index] for indexes in (first, postponed))
    return rest_of(row.size, next_index, unsent, later, row.attempts)
