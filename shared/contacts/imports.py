"""The life cycle of contact imports, from the upload of a file to the end; `worker.jobs.import_contacts` reads it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Connection,
    Engine,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    not_,
    select,
    update,
)

from shared.accounts.refused import Refused
from shared.db.connection import reading, transaction
from shared.db.delete_rows import delete_where
from shared.db.expressions import in_constants, in_parameter
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.contacts import contact_import, import_chunk, import_error
from shared.ids import new_id

UPLOAD_HOURS: Final = 2
"""An upload that is incomplete after this time is abandoned."""
MAX_OPEN: Final = 20
"""Imports of one account that wait or are being imported."""
MAX_OPEN_BYTES: Final = 500 * 1024 * 1024
"""Bytes of their files together."""
KEPT_DAYS: Final = 30
"""Retention of rejected rows, and of the files of failed imports."""


BEGIN = insert(contact_import).values(state="receiving")
KEEP_CHUNK = insert(import_chunk)
IS_OPEN = in_constants(contact_import.c.state, "queued", "running")
UPDATE_IMPORT = update(contact_import).where(contact_import.c.id == bindparam("import"))
QUEUE = UPDATE_IMPORT.where(contact_import.c.state == "receiving").values(
    state="queued",
    chunks=bindparam("number"),
    bytes=bindparam("size"),
    checkpoint=bindparam("checkpoint_reached"),
    worked_at=func.clock_timestamp(),
)
OPEN = select(func.count().label("imports"), func.coalesce(func.sum(contact_import.c.bytes), 0).label("bytes")).where(
    contact_import.c.account_id == bindparam("account"), IS_OPEN
)
HAS_MORE_CHUNKS = contact_import.c.next_chunk + 1 < contact_import.c.chunks
COUNTERS = ("rows", "added", "changed", "unchanged", "invalid")
MOVE_ON = UPDATE_IMPORT.values(
    {name: contact_import.c[name] + bindparam(f"more_{name}") for name in COUNTERS},
).values(
    state=case((HAS_MORE_CHUNKS, "running"), else_="completed"),
    next_chunk=contact_import.c.next_chunk + 1,
    bytes_done=contact_import.c.bytes_done + bindparam("more_bytes"),
    checkpoint=bindparam("checkpoint_reached"),
    worked_at=func.clock_timestamp(),
    finished_at=case((HAS_MORE_CHUNKS, None), else_=func.clock_timestamp()),
)
WITHOUT_REST = contact_import.c.checkpoint.op("-")(cast(["rest", "opted_out"], ARRAY(Text)))
"""The checkpoint without the beginning of a row, and without phones."""
FAIL = UPDATE_IMPORT.values(
    state="failed",
    error=bindparam("reason"),
    checkpoint=WITHOUT_REST,
    worked_at=func.clock_timestamp(),
    finished_at=func.clock_timestamp(),
)
SET_ASIDE = UPDATE_IMPORT.where(IS_OPEN).values(
    state="failed", error=bindparam("reason"), finished_at=func.clock_timestamp()
)
CANCEL = UPDATE_IMPORT.where(IS_OPEN).values(
    state="canceled",
    checkpoint=WITHOUT_REST,
    worked_at=func.clock_timestamp(),
    finished_at=func.clock_timestamp(),
)
HAS_CHUNKS = exists().where(import_chunk.c.import_id == contact_import.c.id)
HAS_STOPPED = in_constants(contact_import.c.state, "failed", "canceled")
HAS_FILE = and_(HAS_STOPPED, HAS_CHUNKS)
"""Whether the rest of the file of an import that was set aside is stored."""
DROP_REST = (
    update(contact_import)
    .where(in_parameter(contact_import.c.id, "imports"), HAS_STOPPED)
    .values(
        checkpoint=WITHOUT_REST,
        error=case((HAS_CHUNKS, bindparam("reason")), else_=contact_import.c.error),
    )
    .returning(contact_import.c.id)
)
DROP_OLD_REST = (
    update(contact_import)
    .where(HAS_STOPPED, not_(HAS_CHUNKS), contact_import.c.checkpoint != WITHOUT_REST)
    .values(checkpoint=WITHOUT_REST)
)
DROP_ALL_CHUNKS = delete(import_chunk).where(in_parameter(import_chunk.c.import_id, "imports"))
RETRY = UPDATE_IMPORT.where(contact_import.c.state == "failed", HAS_CHUNKS).values(
    state="running", error=None, finished_at=None
)
LOCK_RECEIVING = (
    select(contact_import.c.id)
    .where(contact_import.c.id == bindparam("import"), in_constants(contact_import.c.state, "receiving"))
    .with_for_update()
)
DROP_CHUNKS = delete(import_chunk).where(import_chunk.c.import_id == bindparam("import"))
TAKE_CHUNK = DROP_CHUNKS.where(import_chunk.c.number == bindparam("number")).returning(import_chunk.c.content)
DROP = delete(contact_import).where(contact_import.c.id == bindparam("import"), contact_import.c.state == "receiving")
ABANDONED = (
    select(contact_import.c.id)
    .where(
        in_constants(contact_import.c.state, "receiving"),
        contact_import.c.worked_at < func.now() - timedelta(hours=UPLOAD_HOURS),
    )
    .limit(100)
)
IS_OLD = contact_import.c.finished_at < func.now() - timedelta(days=KEPT_DAYS)
OF_OLD_FAILED = exists().where(
    contact_import.c.id == import_chunk.c.import_id, contact_import.c.state == "failed", IS_OLD
)
"""Whether a chunk is of a failed import that the operator has not retried."""
OF_OLD = exists().where(contact_import.c.id == import_error.c.import_id, IS_OLD)
CHUNKS_AT_A_TIME = 100


def begin_import(engine: Engine, account_id: int, group_id: UUID, country: str | None) -> UUID:
    """Create an import whose file is being uploaded. Returns its id."""
    import_id = new_id()
    with transaction(engine, durable=False) as connection:
        values = {"id": import_id, "account_id": account_id, "group_id": group_id, "country": country}
        connection.execute(BEGIN, values)
    return import_id


def keep_chunk(engine: Engine, import_id: UUID, number: int, content: str) -> None:
    """Store a chunk of the file. It is durable once the import is queued."""
    with transaction(engine, durable=False) as connection:
        connection.execute(KEEP_CHUNK, {"import_id": import_id, "number": number, "content": content})


def queue_import(
    connection: Connection,
    account_id: int,
    import_id: UUID,
    chunks: int,
    size: int,
    checkpoint: dict[str, Any] | None = None,
) -> None:
    """Queue an import of the account whose file, of `size` bytes, is complete. Raises Refused if it has too many.

    `checkpoint` is where its reader begins; None if the reader has to find the columns.
    """
    one_at_a_time(connection, "imports", account_id)
    found = connection.execute(OPEN, {"account": account_id}).one()
    if found.imports >= MAX_OPEN:
        raise Refused(f"At most {MAX_OPEN} imports of an account can wait or be running.", code="import_limit")
    if found.bytes + size > MAX_OPEN_BYTES:
        megabytes = MAX_OPEN_BYTES // (1024 * 1024)
        reason = f"The files of an account's open imports can have at most {megabytes} MB together."
        raise Refused(reason, code="import_limit")
    values = {"import": import_id, "number": chunks, "size": size, "checkpoint_reached": checkpoint or {}}
    connection.execute(QUEUE, values)


def end_chunk(connection: Connection, import_id: UUID, checkpoint: dict[str, Any], more: dict[str, int]) -> None:
    """Go on to the next chunk from the checkpoint; after the last one, the import is complete.

    `more` is what the chunk adds to the import's counts: `more_bytes`, `more_rows`, `more_added` and so on.
    """
    connection.execute(MOVE_ON, {"import": import_id, "checkpoint_reached": checkpoint, **more})


def fail_import(connection: Connection, import_id: UUID, reason: str) -> None:
    """End an import that the account has to correct, with what is left of its file."""
    connection.execute(FAIL, {"import": import_id, "reason": reason})
    connection.execute(DROP_CHUNKS, {"import": import_id})


def set_aside_import(connection: Connection, import_id: str, reason: str) -> None:
    """Stop an open import after internal errors. The rest of its file is kept, so that the operator can retry."""
    connection.execute(SET_ASIDE, {"import": import_id, "reason": reason})


def retry_import(connection: Connection, import_id: UUID) -> bool:
    """Resume an import that was set aside. Returns False if there is none."""
    return bool(connection.execute(RETRY, {"import": import_id}).rowcount)


def cancel_import(connection: Connection, import_id: UUID) -> bool:
    """Stop an import after the current chunk; imported contacts stay. Returns False unless it waits or is running."""
    if not connection.execute(CANCEL, {"import": import_id}).rowcount:
        return False
    connection.execute(DROP_CHUNKS, {"import": import_id})
    return True


def drop_rest(connection: Connection, imports: Sequence[UUID], reason: str) -> int:
    """Delete what is left of the files of these imports. Those that could be resumed fail for `reason` instead.

    Returns the number of imports. One that the operator has resumed keeps its file. The caller has deleted the failures
    of all of them (shared/job_failures.py) in the same transaction, so none can be resumed until its commit.
    """
    stopped = connection.execute(DROP_REST, {"imports": imports, "reason": reason}).scalars().all()
    connection.execute(DROP_ALL_CHUNKS, {"imports": stopped})
    return len(stopped)


def drop_import(engine: Engine, import_id: UUID) -> None:
    """Delete an import whose upload did not complete. One that was queued keeps its file, even if its commit got no
    response."""
    with transaction(engine, durable=False) as connection:
        if connection.execute(LOCK_RECEIVING, {"import": import_id}).first() is None:
            return
        connection.execute(DROP_CHUNKS, {"import": import_id})
        connection.execute(DROP, {"import": import_id})


def drop_old(engine: Engine) -> None:
    """Delete abandoned uploads, and rejected rows and files past their retention."""
    with reading(engine) as connection:
        abandoned = connection.execute(ABANDONED).scalars().all()
    for import_id in abandoned:
        drop_import(engine, import_id)
    delete_where(engine, import_chunk, OF_OLD_FAILED, CHUNKS_AT_A_TIME)
    with transaction(engine) as connection:
        connection.execute(DROP_OLD_REST)
    delete_where(engine, import_error, OF_OLD)
