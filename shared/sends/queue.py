"""The queue: what waits and what is being sent, by account, category and carrier."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from shared.db.tables.accounts import account
from shared.db.tables.sends import batch, send
from shared.lifecycle import BatchState

IN_QUEUE = (BatchState.WAITING, BatchState.QUEUED, BatchState.SENDING)
MESSAGES = batch.c.size - batch.c.next_index + 1 + func.coalesce(func.cardinality(batch.c.retry), 0)
CARRIER, LIMIT = func.split_part(batch.c.carrier, "/", 1), func.split_part(batch.c.carrier, "/", 2)
SEGMENTS = func.sum(MESSAGES * func.coalesce(batch.c.segments, send.c.segments))
QUEUE = (
    select(
        batch.c.account_id,
        account.c.name.label("account"),
        (account.c.state == "frozen").label("frozen"),
        send.c.lane,
        func.nullif(CARRIER, "").label("carrier"),
        func.nullif(LIMIT, "").label("rate_limit"),
        batch.c.state,
        func.count().label("batches"),
        func.sum(MESSAGES).label("messages"),
        SEGMENTS.label("segments"),
        func.min(batch.c.due_at).label("first_due_at"),
    )
    .select_from(batch.join(send, send.c.id == batch.c.send_id).join(account, account.c.id == batch.c.account_id))
    .where(batch.c.state.in_(IN_QUEUE))
    .group_by(account.c.name, account.c.state, batch.c.account_id, send.c.lane, CARRIER, LIMIT, batch.c.state)
    .order_by(SEGMENTS.desc(), batch.c.account_id, send.c.lane)
)


class Waiting(NamedTuple):
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


def read_queue(connection: Connection, limit: int) -> list[Waiting]:
    """What waits and what is being sent, the largest entries first."""
    rows: list[Any] = list(connection.execute(QUEUE.limit(limit)))
    return [Waiting(*row)._replace(state=BatchState(row.state)) for row in rows]
