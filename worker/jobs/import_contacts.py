"""Imports files of contacts, chunk by chunk.

Each chunk is one transaction: its contacts, row errors, counts and the checkpoint in the file change together, under a
lock on the import's row. So if a worker dies, any other resumes the import exactly where it was, and at once, as the
lock ends with the connection. Accounts take turns (worker/jobs/turns.py), and within an account its imports, so neither
a large file nor a thousand of them delay others. An import that fails repeatedly is set aside (shared/job_failures.py).
"""

from typing import Any

from sqlalchemy import Connection, Engine, Row, Uuid, bindparam, insert, select

from shared.contacts.columns import NoContacts
from shared.contacts.csv import Checkpoint, ContactReader, RejectedRow
from shared.contacts.groups import Contact, GroupFull, PutResult, UnknownGroup, put_contacts, remove_contacts
from shared.contacts.imports import IS_OPEN, TAKE_CHUNK, end_chunk, fail_import, set_aside_import
from shared.db.connection import transaction
from shared.db.expressions import parameter_rows
from shared.db.tables.contacts import contact_import, import_error
from shared.job_backoff import failures_of
from shared.job_failures import attempt
from shared.observability.metrics import IMPORTED_ROWS
from shared.sms.numbering import numbering_of
from worker.jobs.turns import next_in_turn, take_turn

MAX_ERRORS = 100_000
"""Most row errors kept per import; the rest are only counted."""

NEXT = next_in_turn(
    "import", contact_import.c.id, contact_import.c.account_id, IS_OPEN, since=contact_import.c.worked_at
)
LOCK = (
    select(
        *contact_import.c["id", "account_id", "group_id", "country", "chunks", "next_chunk", "checkpoint", "invalid"]
    )
    .add_columns(failures_of("import", contact_import.c.id).label("failures"))
    .where(IS_OPEN, contact_import.c.id == bindparam("import"))
    .with_for_update(skip_locked=True)
)
ERRORS = parameter_rows("errors", *import_error.c["line", "value", "code", "detail"])
KEEP_ERRORS = insert(import_error).from_select(
    ["import_id", *ERRORS.c.keys()], select(bindparam("id", type_=Uuid), *ERRORS.c)
)
INTERNAL_ERROR = "An internal error stopped this import. The operator has been notified and can retry it."


def import_chunk(engine: Engine) -> bool:
    """Import the next chunk for the account whose turn it is. Returns False if no import waits."""
    import_id = take_turn(engine, "import", NEXT)
    if import_id is None:
        return False
    with attempt(engine, "import", _set_aside) as job, transaction(engine) as connection:
        row = connection.execute(LOCK, {"import": import_id}).one_or_none()
        if row is None:  # taken by another worker since, or no longer open
            return True
        job.begin(row.id, row.account_id, row.failures)
        chunk = connection.execute(TAKE_CHUNK, {"import": row.id, "number": row.next_chunk}).scalar_one()
        reader = ContactReader(numbering_of(row.country), Checkpoint(**(row.checkpoint or {})))
        try:
            contacts, rejected = reader.read(chunk, row.next_chunk + 1 == row.chunks)
            unique = list({contact.phone: contact for contact in contacts}.values())
            with connection.begin_nested():
                put = put_contacts(connection, row.group_id, unique)
                if reader.opted_out:
                    remove_contacts(connection, row.group_id, reader.opted_out)
        except (NoContacts, GroupFull, UnknownGroup) as problem:
            error = "The group was deleted." if isinstance(problem, UnknownGroup) else str(problem)
            fail_import(connection, row.id, error)
            return True
        _keep_errors(connection, row, rejected)
        end_chunk(connection, row.id, reader.checkpoint.as_dict(), _progress(chunk, contacts, rejected, put))
        IMPORTED_ROWS.labels("imported").inc(len(contacts))
        IMPORTED_ROWS.labels("rejected").inc(len(rejected))
    return True


def _set_aside(connection: Connection, import_id: str, _: str) -> None:
    set_aside_import(connection, import_id, INTERNAL_ERROR)


def _keep_errors(connection: Connection, row: Row[Any], rejected: list[RejectedRow]) -> None:
    kept = rejected[: max(0, MAX_ERRORS - row.invalid)]
    if kept:
        line, value, code, detail = map(list, zip(*kept, strict=True))
        connection.execute(KEEP_ERRORS, {"id": row.id, "line": line, "value": value, "code": code, "detail": detail})


def _progress(chunk: str, contacts: list[Contact], rejected: list[RejectedRow], put: PutResult) -> dict[str, int]:
    return {
        "more_bytes": len(chunk.encode()),
        "more_rows": len(contacts) + len(rejected),
        "more_added": put.added,
        "more_changed": put.changed,
        "more_unchanged": len(contacts) - put.added - put.changed,
        "more_invalid": len(rejected),
    }
