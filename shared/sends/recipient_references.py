"""References that the recipients of a list have of their own. Lists without them have no rows here."""

from collections.abc import Iterable

from sqlalchemy import Connection

from shared.db.connection import copy_rows, field

OWN_REFERENCES = """
    (SELECT json_object_agg(right(CAST(r.message_id AS text), 4), r.reference) FROM recipient_reference r
      WHERE r.message_id > {batch}.id
        AND r.message_id <= CAST(overlay(CAST({batch}.id AS text) placing 'ffff' from 33) AS uuid))
"""
"""SQL: the references of a batch's recipients, by index as the four digits that end its message's id; null: none."""


def add_references(connection: Connection, account_id: int, references: Iterable[tuple[str, str]]) -> None:
    """Store the references of messages, given by their ids."""
    rows = "".join(f"{message}\t{account_id}\t{field(reference)}\n" for message, reference in references)
    copy_rows(connection, "recipient_reference", "message_id, account_id, reference", rows)


def own_reference(references: dict[str, str] | None, index: int) -> str | None:
    """That of the recipient at an index of a batch with these OWN_REFERENCES."""
    return references.get(f"{index:04x}") if references else None
