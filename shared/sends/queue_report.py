"""The queue: what waits and what is being sent, by account, category and carrier."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, literal, select, union_all

from shared.db.tables.accounts import account
from shared.db.tables.sends import batch, send
from shared.lifecycle import BatchState
from shared.sends.sendable import MESSAGES_LEFT_OF_BATCH


def _batches(state: BatchState) -> Select[Any]:
    """The batches in one state. It is written into the statement, so that Postgres uses the state's own index."""
    return select(
        *batch.c["send_id", "account_id", "state", "carrier", "due_at", "segments"],
        MESSAGES_LEFT_OF_BATCH.label("messages"),
    ).where(batch.c.state == literal(state, literal_execute=True))


STATES = (BatchState.WAITING, BatchState.QUEUED, BatchState.SENDING)
OPEN_BATCHES = union_all(*map(_batches, STATES)).subquery("waiting")
OPEN = OPEN_BATCHES.c
CARRIER, LIMIT = func.split_part(OPEN.carrier, "/", 1), func.split_part(OPEN.carrier, "/", 2)
SEGMENTS = func.sum(OPEN.messages * func.coalesce(OPEN.segments, send.c.segments))
QUEUE = (
    select(
        OPEN.account_id,
        *(account.c.name.label("account"), (account.c.state == "frozen").label("frozen")),
        send.c.lane,
        func.nullif(CARRIER, "").label("carrier"),
        func.nullif(LIMIT, "").label("rate_limit"),
        OPEN.state,
        func.count().label("batches"),
        func.sum(OPEN.messages).label("messages"),
        SEGMENTS.label("segments"),
        func.min(OPEN.due_at).label("first_due_at"),
    )
    .select_from(OPEN_BATCHES.join(send, send.c.id == OPEN.send_id).join(account, account.c.id == OPEN.account_id))
    .group_by(account.c.name, account.c.state, OPEN.account_id, send.c.lane, CARRIER, LIMIT, OPEN.state)
    .order_by(SEGMENTS.desc(), OPEN.account_id, send.c.lane)
)


class QueueEntry(NamedTuple):
    """Batches of one account, category and carrier that are in the same state."""

    account_id: int
    account: str
    frozen: bool
    """Whether the account is frozen, so that nothing of it is sent."""
    lane: int
    carrier: str | None
    """The carrier whose queue they are in; None before they are routed, and with a single carrier."""
    rate_limit: str | None
    """The `[[limits]]` entry of the carriers' file that applies to them, such as `sender ACME`."""
    state: BatchState
    batches: int
    messages: int
    segments: int
    first_due_at: datetime


def read_queue(connection: Connection, limit: int) -> list[QueueEntry]:
    """What waits and what is being sent, the largest entries first."""
    rows = connection.execute(QUEUE.limit(limit))
    return [QueueEntry._make(row)._replace(state=BatchState(row.state)) for row in rows]
