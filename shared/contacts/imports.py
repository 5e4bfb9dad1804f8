"""Stores uploaded files of contacts until they are imported by `worker.jobs.import_contacts`."""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.db.connection import reading, transaction
from shared.ids import new_id

__all__ = ["begin_import", "cancel_import", "drop_import", "drop_old", "keep_piece", "queue_import", "retry_import"]

UPLOAD_HOURS: Final = 2
"""An upload that is not complete by then was broken off."""
KEPT_DAYS: Final = 30
"""For how long errors of rows are stored, and the rest of a file whose import was set aside."""

BEGIN = text(
    """
    INSERT INTO contact_import (id, account_id, group_id, state, country)
    VALUES (:id, :account, :group, 'receiving', :country)
    """
)
KEEP_PIECE = text("INSERT INTO import_piece (import_id, number, content) VALUES (:id, :number, :content)")
QUEUE = text(
    """
    UPDATE contact_import SET state = 'queued', pieces = :pieces, bytes = :bytes, worked_at = clock_timestamp()
     WHERE id = :id AND state = 'receiving'
    """
)
CANCEL = text(
    """
    UPDATE contact_import
       SET state = 'canceled', worked_at = clock_timestamp(), finished_at = clock_timestamp()
     WHERE id = :id AND state IN ('receiving', 'queued', 'running')
    """
)
RETRY = text(
    """
    UPDATE contact_import SET state = 'running', error = NULL, finished_at = NULL
     WHERE id = :id AND state = 'failed' AND EXISTS (SELECT FROM import_piece WHERE import_id = :id)
    """
)
DROP_PIECES = text("DELETE FROM import_piece WHERE import_id = :id")
DROP = text("DELETE FROM contact_import WHERE id = :id AND state = 'receiving'")
BROKEN_OFF = text(
    f"""
    SELECT id FROM contact_import
     WHERE state = 'receiving' AND worked_at < now() - interval '{UPLOAD_HOURS} hours' LIMIT 100
    """
)
DROP_SET_ASIDE = text(
    f"""
    DELETE FROM import_piece p USING contact_import i
     WHERE i.id = p.import_id AND i.state = 'failed' AND i.finished_at < now() - interval '{KEPT_DAYS} days'
    """
)
"""Imports that were set aside and never retried."""
DROP_ERRORS = text(
    f"""
    DELETE FROM import_error e USING contact_import i
     WHERE i.id = e.import_id AND i.finished_at < now() - interval '{KEPT_DAYS} days'
    """
)


def begin_import(engine: Engine, account_id: int, group_id: UUID, country: str | None) -> UUID:
    """Begin an upload. Returns the import's id."""
    made = new_id()
    with transaction(engine, durable=False) as connection:
        connection.execute(BEGIN, {"id": made, "account": account_id, "group": group_id, "country": country})
    return made


def keep_piece(engine: Engine, import_id: UUID, number: int, content: str) -> None:
    """Store a chunk of the file. It is durable only when the import is queued."""
    with transaction(engine, durable=False) as connection:
        connection.execute(KEEP_PIECE, {"id": import_id, "number": number, "content": content})


def queue_import(connection: Connection, import_id: UUID, pieces: int, size: int) -> None:
    """Queue the import of a complete file of `size` bytes."""
    connection.execute(QUEUE, {"id": import_id, "pieces": pieces, "bytes": size})


def retry_import(connection: Connection, import_id: UUID) -> bool:
    """Retry an import that was set aside. False if there is none."""
    return bool(connection.execute(RETRY, {"id": import_id}).rowcount)


def cancel_import(connection: Connection, import_id: UUID) -> bool:
    """Cancel an import after the current chunk; imported contacts stay. False if it had ended."""
    if not connection.execute(CANCEL, {"id": import_id}).rowcount:
        return False
    connection.execute(DROP_PIECES, {"id": import_id})
    return True


def drop_import(engine: Engine, import_id: UUID) -> None:
    """Delete a file whose upload did not complete."""
    with transaction(engine, durable=False) as connection:
        connection.execute(DROP_PIECES, {"id": import_id})
        connection.execute(DROP, {"id": import_id})


def drop_old(engine: Engine) -> None:
    """Delete uploads that were broken off, and old errors."""
    with reading(engine) as connection:
        broken_off = connection.execute(BROKEN_OFF).scalars().all()
    for import_id in broken_off:
        drop_import(engine, import_id)
    with transaction(engine) as connection:
        connection.execute(DROP_SET_ASIDE)
        connection.execute(DROP_ERRORS)
