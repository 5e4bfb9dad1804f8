"""References that the recipients of a list have of their own. Lists without them have no rows here."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection, bindparam, select

from shared.db.connection import copy_rows, field
from shared.db.tables.sends import recipient_reference

OWN_REFERENCES = """
    (SELECT json_object_agg(right(CAST(r.message_id AS text), 4), r.reference) FROM recipient_reference r
      WHERE r.message_id > {batch}.id
        AND r.message_id <= CAST(overlay(CAST({batch}.id AS text) placing 'ffff' from 33) AS uuid))
"""
"""SQL: the references of a batch's recipients, by index as the four digits that end its message's id; null: none."""

COLUMNS = recipient_reference.c
FIND = (
    select(COLUMNS.message_id)
    .where(
        COLUMNS.account_id == bindparam("account"),
        COLUMNS.reference == bindparam("reference"),
        COLUMNS.message_id < bindparam("before"),
    )
    .order_by(COLUMNS.message_id.desc())
    .limit(bindparam("limit"))
)


def add_references(connection: Connection, account_id: int, references: Iterable[tuple[str, str]]) -> None:
    """Store the references of messages, given by their ids."""
    rows = "".join(f"{message}\t{account_id}\t{field(reference)}\n" for message, reference in references)
    copy_rows(connection, "recipient_reference", "message_id, account_id, reference", rows)


def find_referenced(connection: Connection, account_id: int, reference: str, before: UUID, limit: int) -> list[UUID]:
    """The account's messages whose recipients have this reference, newest first, of those `before` one."""
    values = {"account": account_id, "reference": reference, "before": before, "limit": limit}
    return list(connection.execute(FIND, values).scalars())


def own_reference(references: dict[str, str] | None, index: int) -> str | None:
    """That of the recipient at an index of a batch with these OWN_REFERENCES."""
    return references.get(f"{index:04x}") if references else None
