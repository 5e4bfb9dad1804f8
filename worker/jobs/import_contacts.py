"""Imports files of contacts, chunk by chunk.

Each chunk is one transaction: its contacts, row errors, counts and the checkpoint in the file change together, under a
lock on the import's row. So if a worker dies, any other resumes the import exactly where it was, and at once, as the
lock ends with the connection. The import that has waited longest is next, so a large file delays nobody. An import that
fails repeatedly is set aside (shared/job_failures.py).
"""

import contextlib
import json
import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from shared.contacts.csv import Checkpoint, ContactReader, NoContacts, RejectedRow
from shared.contacts.groups import Contact, GroupFull, Put, UnknownGroup, put_contacts
from shared.db.connection import transaction
from shared.job_failures import FAILURES, IN_BACKOFF, attempt
from shared.metrics import IMPORTED_ROWS
from shared.sms.numbering import numbering_of

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
"""Seconds between checks for imports whose task was lost."""
MAX_ERRORS = 100_000
"""Most row errors kept per import; the rest are only counted."""

NEXT = text(
    f"""
    SELECT id, account_id, group_id, country, pieces, next_piece, place, invalid,
           {FAILURES.format(kind="import", subject="id")} AS failures
      FROM contact_import
     WHERE state IN ('queued', 'running') AND NOT {IN_BACKOFF.format(kind="import", subject="id")}
     ORDER BY worked_at LIMIT 1 FOR UPDATE SKIP LOCKED
    """
)
TAKE_CHUNK = text("DELETE FROM import_piece WHERE import_id = :id AND number = :number RETURNING content")
KEEP_ERRORS = text(
    """
    INSERT INTO import_error (import_id, line, value, code, detail)
    SELECT :id, * FROM unnest(CAST(:line AS int[]), CAST(:value AS text[]), CAST(:code AS text[]),
                              CAST(:detail AS text[]))
    """
)
MOVE_ON = text(
    """
    UPDATE contact_import
       SET state = CASE WHEN next_piece + 1 < pieces THEN 'running' ELSE 'completed' END,
           next_piece = next_piece + 1, bytes_done = bytes_done + :bytes, place = CAST(:place AS jsonb),
           rows = rows + :rows, added = added + :added, changed = changed + :changed,
           unchanged = unchanged + :unchanged, invalid = invalid + :invalid, worked_at = clock_timestamp(),
           finished_at = CASE WHEN next_piece + 1 < pieces THEN NULL ELSE clock_timestamp() END
     WHERE id = :id
    """
)
FAIL = text(
    """
    UPDATE contact_import
       SET state = 'failed', error = :error, worked_at = clock_timestamp(), finished_at = clock_timestamp()
     WHERE id = :id
    """
)
SET_ASIDE = text(
    """
    UPDATE contact_import SET state = 'failed', error = :error, finished_at = clock_timestamp()
     WHERE id = :id AND state IN ('queued', 'running')
    """
)
"""Keeps the rest of the file, so that the operator can retry."""
INTERNAL_ERROR = "An internal error stopped this import. The operator has been notified and can retry it."
DROP_PIECES = text("DELETE FROM import_piece WHERE import_id = :id")


class Importer:
    """The background thread of one worker process that imports contacts."""

    def __init__(
        self, engine: Engine, tolerated: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
    ) -> None:
        self._engine = engine
        self._tolerated = tolerated
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="importer", daemon=True)

    def start(self) -> None:
        """Check for imports every second and when woken, in a background thread."""
        self._thread.start()

    def wake(self) -> None:
        """Check for imports now."""
        self._wake.set()

    def stop(self) -> None:
        """Stop after the current chunk."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def work(self) -> int:
        """Import until nothing is left, or the worker stops. Returns the number of chunks."""
        chunks = 0
        while not self._stop.is_set() and import_chunk(self._engine):
            chunks += 1
        return chunks

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(POLL_SECONDS)
            self._wake.clear()
            try:
                with self._tolerated():
                    self.work()
            except Exception:
                log.exception("an import failed and will be retried in a second")


def import_chunk(engine: Engine) -> bool:
    """Import the next chunk of the import that has waited longest. Returns False if there is none."""
    with attempt(engine, "import", _set_aside) as job, transaction(engine) as connection:
        row = connection.execute(NEXT).one_or_none()
        if row is None:
            return False
        job.begin(row.id, row.account_id, row.failures)
        chunk = connection.execute(TAKE_CHUNK, {"id": row.id, "number": row.next_piece}).scalar_one()
        reader = ContactReader(numbering_of(row.country), Checkpoint(**(row.place or {})))
        try:
            contacts, rejected = reader.read(chunk, row.next_piece + 1 == row.pieces)
            unique = list({contact.phone: contact for contact in contacts}.values())
            with connection.begin_nested():
                put = put_contacts(connection, row.group_id, unique)
        except (NoContacts, GroupFull, UnknownGroup) as problem:
            error = "The group was deleted." if isinstance(problem, UnknownGroup) else str(problem)
            connection.execute(FAIL, {"id": row.id, "error": error})
            connection.execute(DROP_PIECES, {"id": row.id})
            return True
        _keep_errors(connection, row, rejected)
        connection.execute(MOVE_ON, {"id": row.id, **_progress(chunk, contacts, rejected, put, reader.checkpoint)})
        IMPORTED_ROWS.labels("imported").inc(len(contacts))
        IMPORTED_ROWS.labels("rejected").inc(len(rejected))
    return True


def _set_aside(connection: Connection, import_id: str, _: str) -> None:
    connection.execute(SET_ASIDE, {"id": import_id, "error": INTERNAL_ERROR})


def _keep_errors(connection: Connection, row: Row[Any], rejected: list[RejectedRow]) -> None:
    kept = rejected[: max(0, MAX_ERRORS - row.invalid)]
    if kept:
        line, value, code, detail = map(list, zip(*kept, strict=True))
        connection.execute(KEEP_ERRORS, {"id": row.id, "line": line, "value": value, "code": code, "detail": detail})


def _progress(
    chunk: str, contacts: list[Contact], rejected: list[RejectedRow], put: Put, checkpoint: Checkpoint
) -> dict[str, Any]:
    return {
        "bytes": len(chunk.encode()),
        "place": json.dumps(checkpoint.as_dict()),
        "rows": len(contacts) + len(rejected),
        "added": put.added,
        "changed": put.changed,
        "unchanged": len(contacts) - put.added - put.changed,
        "invalid": len(rejected),
    }
