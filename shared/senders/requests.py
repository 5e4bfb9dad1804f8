"""Sender IDs as operators see them: requested by whom, for what, and like whose."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, select, tuple_

from shared.db.tables.accounts import account, sender_id
from shared.senders.similarity import likenesses

LIST = select(
    sender_id.c.id,
    sender_id.c.account_id,
    account.c.name.label("account"),
    *sender_id.c["sender_id", "state", "reason", "use_case", "authentication", "created_at", "decided_at"],
).join(account, account.c.id == sender_id.c.account_id)


def list_sender_ids(
    connection: Connection,
    *,
    account_id: int | None = None,
    state: str | None = None,
    after: tuple[int, str] = (0, ""),
    limit: int | None = None,
) -> list[dict[str, Any]]:
    """Sender IDs of one account or of all live ones, by account and name, with similar ones of other accounts.

    `after` are account and name of the last one before. `similar_to` lists the similar ones.
    """
    of = account.c.sandbox_of.is_(None) if account_id is None else account.c.id == account_id
    chosen = LIST.where(of, tuple_(sender_id.c.account_id, sender_id.c.sender_id) > after)
    if state is not None:
        chosen = chosen.where(sender_id.c.state == state)
    ordered = chosen.order_by(sender_id.c.account_id, sender_id.c.sender_id).limit(limit)
    return _with_likenesses(connection, [dict(row) for row in connection.execute(ordered).mappings()])


def show_sender_id(connection: Connection, sender: UUID) -> dict[str, Any] | None:
    """One sender ID of a live account; None if there is none."""
    return _one(connection, LIST.where(sender_id.c.id == sender, account.c.sandbox_of.is_(None)))


def find_sender_id(connection: Connection, account_id: int, name: str) -> dict[str, Any] | None:
    """An account's sender ID by its name; None if it has not asked for it."""
    return _one(connection, LIST.where(sender_id.c.account_id == account_id, sender_id.c.sender_id == name))


def _one(connection: Connection, found: Select[Any]) -> dict[str, Any] | None:
    row = connection.execute(found).mappings().one_or_none()
    return None if row is None else _with_likenesses(connection, [dict(row)])[0]


def _with_likenesses(connection: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    alike = likenesses(connection, of=(row["sender_id"] for row in rows))
    similar = {(name.account_id, name.sender_id): others for name, others in alike.items()}
    return [{**row, "similar_to": similar.get((row["account_id"], row["sender_id"]), [])} for row in rows]
