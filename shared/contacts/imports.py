"""The life cycle of contact imports, from the upload of a file to the end; `worker.jobs.import_contacts` reads it."""

from typing import Final
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.db.connection import reading, transaction
from shared.ids import new_id

__all__ = ["begin_import", "cancel_import", "drop_import", "drop_old", "keep_piece", "queue_import", "retry_import"]

UPLOAD_HOURS: Final = 2
"""An upload that is incomplete after this time is abandoned."""
KEPT_DAYS: Final = 30
"""Retention of rejected rows, and of the files of failed imports."""

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
ABANDONED = text(
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
"""Deletes the files of failed imports that the operator has not retried."""
DROP_ERRORS = text(
    f"""
    DELETE FROM import_error e USING contact_import i
     WHERE i.id = e.import_id AND i.finished_at < now() - interval '{KEPT_DAYS} days'
    """
)


def begin_import(engine: Engine, account_id: int, group_id: UUID, country: str | None) -> UUID:
    """Create an import whose file is being uploaded. Returns its id."""
    import_id = new_id()
    with transaction(engine, durable=False) as connection:
        connection.execute(BEGIN, {"id": import_id, "account": account_id, "group": group_id, "country": country})
    return import_id


def keep_piece(engine: Engine, import_id: UUID, number: int, content: str) -> None:
    """Store a chunk of the file. It is durable once the import is queued."""
    with transaction(engine, durable=False) as connection:
        connection.execute(KEEP_PIECE, {"id": import_id, "number": number, "content": content})


def queue_import(connection: Connection, import_id: UUID, pieces: int, size: int) -> None:
    """Queue an import whose file, of `size` bytes, is complete."""
    connection.execute(QUEUE, {"id": import_id, "pieces": pieces, "bytes": size})


def retry_import(connection: Connection, import_id: UUID) -> bool:
    """Resume an import that was set aside. Returns False if there is none."""
    return bool(connection.execute(RETRY, {"id": import_id}).rowcount)


def cancel_import(connection: Connection, import_id: UUID) -> bool:
    """Stop an import after the current chunk; imported contacts stay. Returns False if it has ended."""
    if not connection.execute(CANCEL, {"id": import_id}).rowcount:
        return False
    connection.execute(DROP_PIECES, {"id": import_id})
    return True


def drop_import(engine: Engine, import_id: UUID) -> None:
    """Delete an import whose upload did not complete."""
    with transaction(engine, durable=False) as connection:
        connection.execute(DROP_PIECES, {"id": import_id})
        connection.execute(DROP, {"id": import_id})


def drop_old(engine: Engine) -> None:
    """Delete abandoned uploads, and rejected rows and files past their retention."""
    with reading(engine) as connection:
        abandoned = connection.execute(ABANDONED).scalars().all()
    for import_id in abandoned:
        drop_import(engine, import_id)
    with transaction(engine) as connection:
        connection.execute(DROP_SET_ASIDE)
        connection.execute(DROP_ERRORS)
