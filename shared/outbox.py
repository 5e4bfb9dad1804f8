"""The outbox: events for accounts, written in the transaction in which they happen.

Events of messages are packed: one row holds the new status of many messages of a batch. They are unpacked only when
they are delivered or pulled; an event's id is that of its row plus its position, as a message's id is that of its batch
plus its index. Ids are assigned before a transaction commits, so a reader who goes by them may miss events; readers go
by the transaction's number instead, and stop below the oldest open transaction.

Rows are written only for accounts that listen, that is, have a webhook or have pulled in the last days. For all others
the cost is one small query per second and process.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy import (
    JSON,
    Connection,
    Engine,
    Interval,
    Row,
    Text,
    Uuid,
    bindparam,
    cast,
    exists,
    func,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from shared.db.connection import array, copy_rows, field, reading, transaction
from shared.db.tables.events import event, listener
from shared.ids import batch_of, index_of, new_batch_id
from shared.lifecycle import EventType, MessageStatus, SendState

CACHE_SECONDS = 1.0
"""For how long a process caches which accounts listen."""
MARGIN_SECONDS = 0.2
"""How much longer a new listener waits until every process knows of it."""
KEPT_DAYS = 8
"""For how long events can be delivered and pulled."""


class StatusChange(NamedTuple):
    """Messages of one batch, by index, that got the same status and error in one transaction."""

    account_id: int
    send_id: UUID
    batch_id: UUID
    status: MessageStatus | str
    indexes: Sequence[int]
    error: str | None = None

    @classmethod
    def of_message(cls, row: Row[Any]) -> "StatusChange":
        """That of one message: a row with its id, account_id, send_id, status and error."""
        return cls(row.account_id, row.send_id, batch_of(row.id), row.status, [index_of(row.id)], row.error)


LISTENING = select(listener.c.account_id)
HOUR_AGO = func.clock_timestamp() - timedelta(hours=1)
KNOWN = func.clock_timestamp() - bindparam("wait", type_=Interval)
"""Every process knows of a listener that is older."""
LISTENS = select(
    exists().where(listener.c.account_id == bindparam("account"), listener.c.pulled_at.between(HOUR_AGO, KNOWN))
)
STILL_LISTENS = (
    update(listener)
    .where(listener.c.account_id == bindparam("account"), listener.c.pulled_at < HOUR_AGO)
    .values(pulled_at=KNOWN)
)
"""The time is not the current one, because requests wait if a listener is new."""
LISTEN = insert(listener).on_conflict_do_update(
    index_elements=["account_id"],
    set_={"pulled_at": func.clock_timestamp()},
    where=listener.c.pulled_at > func.clock_timestamp(),
)
"""A listener whose time is ahead, because the clock of the database was set back, begins anew: otherwise its requests
would wait until the clock has caught up."""
ADD = insert(event).from_select(
    ["id", "account_id", "type", "data"],
    select(
        bindparam("id", type_=Uuid),
        listener.c.account_id,
        bindparam("type", type_=Text),
        cast(bindparam("data", type_=Text), JSON),
    ).where(listener.c.account_id == bindparam("account")),
)
COLUMNS = "id, account_id, type, send_id, batch_id, indexes, error"

_listening: WeakKeyDictionary[Engine, tuple[float, frozenset[int]]] = WeakKeyDictionary()


def add(connection: Connection, account_id: int, type: EventType, data: dict[str, Any]) -> UUID:
    """Add one event with `data`, in the connection's transaction. Returns its id.

    Nothing is written if the account does not listen. For events that are rarer than messages, as each takes a
    statement.
    """
    event = new_batch_id()
    encoded = json.dumps(data, default=str)
    connection.execute(ADD, {"id": event, "account": account_id, "type": type, "data": encoded})
    return event


def add_of_sends(connection: Connection, sends: Iterable[tuple[int, UUID, SendState | str]]) -> None:
    """Add events of sends that have ended or are held, given as (account, send, state)."""
    listeners = listening(connection)
    if listeners:
        rows = [
            f"{new_batch_id()}\t{account}\tsend.{state}\t{send}\t\\N\t\\N\t\\N\n"
            for account, send, state in sends
            if account in listeners
        ]
        if rows:
            copy_rows(connection, "event", COLUMNS, "".join(rows))


def add_of_messages(connection: Connection, moved: Callable[[frozenset[int]], Iterable[StatusChange]]) -> None:
    """Add packed events of messages. `moved` is called with the listening accounts, if there are any."""
    listeners = listening(connection)
    if listeners:
        rows = [_packed(each) for each in moved(listeners) if each.account_id in listeners and each.indexes]
        if rows:
            copy_rows(connection, "event", COLUMNS, "".join(rows))


def _packed(moved: StatusChange) -> str:
    begin = f"{new_batch_id()}\t{moved.account_id}\tmessage.{moved.status}\t{moved.send_id}\t{moved.batch_id}"
    return f"{begin}\t{array(moved.indexes)}\t{field(moved.error)}\n"


def listening(connection: Connection) -> frozenset[int]:
    """The accounts that listen: cached for CACHE_SECONDS."""
    cached = _listening.get(connection.engine)
    if cached is not None and cached[0] > time.monotonic():
        return cached[1]
    until = time.monotonic() + CACHE_SECONDS
    accounts = frozenset(connection.execute(LISTENING).scalars())
    _listening[connection.engine] = until, accounts
    return accounts


def listen(engine: Engine, account_id: int) -> None:
    """Keep the account's events from now on. Takes a second the first time, until every process knows of the listener.

    Call it before the account gets a webhook and whenever it pulls: without a webhook, the account stops listening
    KEPT_DAYS after the last call. The cache is not asked: the listener may just have been deleted.
    """
    parameters = {"account": account_id, "wait": timedelta(seconds=CACHE_SECONDS + MARGIN_SECONDS)}
    with reading(engine) as connection:
        if connection.execute(LISTENS, parameters).scalar():
            return
    with transaction(engine) as connection:
        if connection.execute(STILL_LISTENS, parameters).rowcount:
            return
        connection.execute(LISTEN, {"account_id": account_id})
    _listening.pop(engine, None)
    time.sleep(CACHE_SECONDS + MARGIN_SECONDS)
