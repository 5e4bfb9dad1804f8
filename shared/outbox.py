"""What happened, for the account that it happened to: written in the transaction in which it happens.

An event of messages is packed: one row says which messages of a batch became what. It is told apart only when it is
delivered to a webhook or pulled, and the id of an event is that of its row with its place there (as a message's id is
that of its batch with its index). Ids are given before a transaction commits, so they are no order in which a reader
misses nothing: that is the transaction's number, read below the oldest one that is still open.

Rows are written for accounts that listen: that have a webhook, or have pulled in the last days. For all others the
cost is one small query each second and process.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, text

from shared.db.connection import array, copy_rows, field, reading, transaction
from shared.ids import new_batch_id
from shared.lifecycle import MessageStatus, SendState

FRESH = 1.0
"""Seconds for which a process remembers which accounts listen."""
MARGIN = 0.2
"""Seconds more that a new listener waits until every process knows of it."""
KEPT_DAYS = 8
"""How long events can be delivered and pulled."""


class EventType(StrEnum):
    """What can happen."""

    MESSAGE_SENT = "message.sent"
    MESSAGE_DELIVERED = "message.delivered"
    MESSAGE_UNDELIVERED = "message.undelivered"
    MESSAGE_FAILED = "message.failed"
    MESSAGE_REJECTED = "message.rejected"
    MESSAGE_EXPIRED = "message.expired"
    MESSAGE_CANCELED = "message.canceled"
    MESSAGE_IN_DOUBT = "message.in_doubt"
    MESSAGE_RECEIVED = "message.received"
    SEND_COMPLETED = "send.completed"
    SEND_CANCELED = "send.canceled"
    SEND_HELD = "send.held"
    SUPPRESSION_CREATED = "suppression.created"
    SENDER_ID_APPROVED = "sender_id.approved"
    SENDER_ID_REJECTED = "sender_id.rejected"
    SENDER_ID_SUSPENDED = "sender_id.suspended"
    BALANCE_LOW = "balance.low"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_TEST = "webhook.test"


class Moved(NamedTuple):
    """Messages of one batch, by their indexes in it, that got the same status (and error) together."""

    account_id: int
    send_id: UUID
    batch_id: UUID
    status: MessageStatus | str
    indexes: Sequence[int]
    error: str | None = None


LISTENING = text("SELECT account_id FROM listener")
LISTENS = text("SELECT EXISTS (SELECT FROM listener WHERE account_id = :account)")
LISTEN = text("INSERT INTO listener (account_id) VALUES (:account) ON CONFLICT DO NOTHING")
STILL_LISTENS = text(
    """
    UPDATE listener SET pulled_at = clock_timestamp()
     WHERE account_id = :account AND pulled_at < clock_timestamp() - interval '1 hour'
    """
)
ADD = text(
    """
    INSERT INTO event (id, account_id, type, send_id, data)
    SELECT :id, account_id, :type, CAST(:send AS uuid), CAST(:data AS json) FROM listener WHERE account_id = :account
    """
)
COLUMNS = "id, account_id, type, send_id, batch_id, indexes, error"

_listening: WeakKeyDictionary[Engine, tuple[float, frozenset[int]]] = WeakKeyDictionary()


def add(
    connection: Connection,
    account_id: int,
    type: EventType,
    data: dict[str, Any] | None = None,
    *,
    send_id: UUID | None = None,
) -> UUID:
    """One event, in the connection's transaction. It is told with `data`; one of a send with the send as it is then.

    Returns its id. Written only where the account listens; one statement, for what does not happen with every message.
    """
    encoded = None if data is None else json.dumps(data, default=str)
    event = new_batch_id()
    connection.execute(ADD, {"id": event, "account": account_id, "type": type, "send": send_id, "data": encoded})
    return event


def add_of_sends(connection: Connection, sends: Iterable[tuple[int, UUID, SendState | str]]) -> None:
    """The events of sends that have ended or are held: (account, send, state); of accounts that listen."""
    heard = listening(connection)
    if heard:
        rows = [
            f"{new_batch_id()}\t{account}\tsend.{state}\t{send}\t\\N\t\\N\t\\N\n"
            for account, send, state in sends
            if account in heard
        ]
        if rows:
            copy_rows(connection, "event", COLUMNS, "".join(rows))


def add_of_messages(connection: Connection, moved: Callable[[frozenset[int]], Iterable[Moved]]) -> None:
    """The events of messages that moved, packed. `moved` is called only when anybody listens, with who does."""
    heard = listening(connection)
    if heard:
        rows = [_packed(each) for each in moved(heard) if each.account_id in heard and each.indexes]
        if rows:
            copy_rows(connection, "event", COLUMNS, "".join(rows))


def _packed(moved: Moved) -> str:
    begin = f"{new_batch_id()}\t{moved.account_id}\tmessage.{moved.status}\t{moved.send_id}\t{moved.batch_id}"
    return f"{begin}\t{array(moved.indexes)}\t{field(moved.error)}\n"


def listening(connection: Connection) -> frozenset[int]:
    """The accounts that listen: remembered for FRESH seconds, as every process does."""
    known = _listening.get(connection.engine)
    if known is not None and known[0] > time.monotonic():
        return known[1]
    until = time.monotonic() + FRESH
    accounts = frozenset(connection.execute(LISTENING).scalars())
    _listening[connection.engine] = until, accounts
    return accounts


def listen(engine: Engine, account_id: int) -> None:
    """From when this returns, every event of what the account then sends is kept. Takes a second the first time.

    By then each process has looked again who listens.
    """
    with reading(engine) as connection:
        if account_id in listening(connection) or connection.execute(LISTENS, {"account": account_id}).scalar():
            return
    with transaction(engine) as connection:
        connection.execute(LISTEN, {"account": account_id})
    _listening.pop(engine, None)
    time.sleep(FRESH + MARGIN)


def still_listens(connection: Connection, account_id: int) -> None:
    """Note that the account has pulled. One that has no webhook and does not pull for KEPT_DAYS listens no more."""
    connection.execute(STILL_LISTENS, {"account": account_id})
