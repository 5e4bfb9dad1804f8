"""The life of exports of messages; `worker.jobs.export_messages` makes their files, which are kept for a week."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    not_,
    select,
    update,
)

from shared.accounts.refused import Refused
from shared.db.delete_rows import delete_where
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.messages import export_chunk, message_export
from shared.ids import new_id
from shared.job_backoff import failures_of
from shared.job_failures import clear_failures

KEPT: Final = timedelta(days=7)
MAX_KEPT: Final = 10
"""Exports of one account within that time."""
CHUNKS_AT_A_TIME = 100

EXPORTS = message_export.c
IS_OPEN = EXPORTS.finished_at.is_(None)
IS_RUNNING = and_(IS_OPEN, failures_of("export", EXPORTS.id).is_(None))
"""And no failing one, for which the account's next export need not wait."""
COUNT = select(func.count().label("kept"), func.count().filter(IS_RUNNING).label("running")).where(
    EXPORTS.account_id == bindparam("account"), EXPORTS.created_at > func.now() - KEPT
)
GO_ON = (
    update(message_export)
    .where(EXPORTS.id == bindparam("export"), EXPORTS.chunks == bindparam("chunk"), IS_OPEN)
    .values(
        position=bindparam("end"),
        chunks=EXPORTS.chunks + 1,
        rows=EXPORTS.rows + bindparam("more"),
        reached_at=func.coalesce(bindparam("reached"), EXPORTS.reached_at),
        finished_at=case((bindparam("end").is_(None), func.clock_timestamp())),
    )
)
IS_OLD = EXPORTS.created_at < func.now() - KEPT
IS_PART = export_chunk.c.export_id == EXPORTS.id


def begin_export(connection: Connection, account_id: int, format: str, filters: dict[str, Any]) -> UUID:
    """Begin an export of the account's messages that match the filters of `find_messages`. Raises Refused."""
    one_at_a_time(connection, "exports", account_id)
    found = connection.execute(COUNT, {"account": account_id}).one()
    if found.running:
        raise Refused("One export of an account can be running. Wait until it is complete.", code="export_limit")
    if found.kept >= MAX_KEPT:
        raise Refused(f"An account can have {MAX_KEPT} exports within {KEPT.days} days.", code="export_limit")
    export_id, query = new_id(), orjson.loads(orjson.dumps(filters))
    values = {"id": export_id, "account_id": account_id, "format": format, "query": query}
    connection.execute(insert(message_export), values)
    return export_id


def keep_chunk(connection: Connection, export_id: UUID, chunk: int, content: str, page: dict[str, Any]) -> None:
    """Keep a chunk of the file, and go on at the `end` of its page. Does nothing if another worker has kept it."""
    if connection.execute(GO_ON, {"export": export_id, "chunk": chunk, **page}).rowcount:
        values = {"export_id": export_id, "number": chunk, "content": content}
        connection.execute(insert(export_chunk), values)


def delete_exports(connection: Connection, condition: ColumnElement[bool]) -> int:
    """Delete the exports that meet the condition, with their files; one that is being made ends. Returns how many."""
    found = connection.execute(select(EXPORTS.id).where(condition).with_for_update()).scalars().all()
    connection.execute(delete(export_chunk).where(export_chunk.c.export_id.in_(found)))
    for export_id in found:
        clear_failures(connection, "export", export_id)
    return connection.execute(delete(message_export).where(EXPORTS.id.in_(found))).rowcount


def drop_old_exports(engine: Engine) -> None:
    """Delete exports past their week, their files first."""
    delete_where(engine, export_chunk, exists().where(IS_PART, IS_OLD), CHUNKS_AT_A_TIME)
    delete_where(engine, message_export, and_(IS_OLD, not_(exists().where(IS_PART))))
