"""Sends of all accounts as operators see them: state, counts, and what holds them. No texts."""

from functools import reduce
from operator import add
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, case, func, select

from shared.db.tables.accounts import account
from shared.db.tables.sends import batch, send
from shared.ids import LAST_ID
from shared.lifecycle import LANES, OPEN_SENDS, STORED_STATUSES

COUNTS = tuple(send.c[status] for status in STORED_STATUSES)
WAITING = send.c.accepted - reduce(add, COUNTS)
CATEGORY = case({number: str(category) for number, category in enumerate(LANES)}, value=send.c.lane)
LIST = (
    select(
        send.c.id,
        send.c.account_id,
        account.c.name.label("account"),
        *send.c["state", "kind", "test", "sender_id"],
        CATEGORY.label("category"),
        send.c.accepted,
        WAITING.label("waiting"),
        *COUNTS,
        *send.c["held_by", "held_reason", "send_at", "expires_at", "created_at", "completed_at"],
    )
    .join(account, account.c.id == send.c.account_id)
    .order_by(send.c.id.desc())
)
DETAILS = (
    *send.c["api_key_id", "encoding", "segments", "price", "reference", "group_id", "carrier", "rate", "submitted"],
    *send.c["duplicate", "invalid", "suppressed", "removed", "resent", "unexpanded", "open_batches"],
)


def list_sends(
    connection: Connection,
    *,
    account_id: int | None = None,
    open_only: bool = False,
    state: str | None = None,
    before: UUID = LAST_ID,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """Sends, newest first, of one account or all; those older than the id `before`."""
    chosen = LIST.where(send.c.id < before).limit(limit)
    if account_id is not None:
        chosen = chosen.where(send.c.account_id == account_id)
    if open_only or state in OPEN_SENDS:
        chosen = chosen.where(send.c.completed_at.is_(None))
    if state is not None:
        chosen = chosen.where(send.c.state == state)
    return [dict(row) for row in connection.execute(chosen).mappings()]


def show_send(connection: Connection, send_id: UUID) -> dict[str, Any] | None:
    """One send with all of its counts, and the states of its batches by name; None if there is none."""
    row = connection.execute(LIST.add_columns(*DETAILS).where(send.c.id == send_id)).mappings().one_or_none()
    if row is None:
        return None
    states = select(batch.c.state, func.count()).where(batch.c.send_id == send_id).group_by(batch.c.state)
    batches = {str(state): count for state, count in connection.execute(states.order_by(batch.c.state)).all()}
    return {**row, "batches": batches}
