"""Makes the files of exports, page by page.

A page is read outside of any transaction, and is kept in one with the position after it. So if a worker dies, any other
goes on from there, each row is kept once, and no reader of events waits for a page. Accounts take turns (turns.py).
"""

from datetime import datetime

from sqlalchemy import Engine, bindparam, select

from shared.db.connection import reading, transaction
from shared.db.tables.messages import message_export
from shared.job_backoff import failures_of
from shared.job_failures import attempt
from shared.messages.exports import IS_OPEN, keep_chunk
from shared.messages.representation import csv_of, json_lines_of
from shared.messages.search import find_messages
from worker.jobs.turns import next_in_turn, take_turn

PAGE = 5_000
"""Messages."""
EXPORTS = message_export.c
NEXT = next_in_turn("export", EXPORTS.id, EXPORTS.account_id, IS_OPEN, since=EXPORTS.created_at)
FIND = select(message_export, failures_of("export", EXPORTS.id).label("failures")).where(
    IS_OPEN, EXPORTS.id == bindparam("export")
)


def export_page(engine: Engine) -> bool:
    """Make the next page for the account whose turn it is. Returns False if no export waits."""
    export_id = take_turn(engine, "export", NEXT)
    if export_id is None:
        return False
    with attempt(engine, "export") as job:
        with reading(engine) as connection:
            row = connection.execute(FIND, {"export": export_id}).one_or_none()
            if row is None:
                return True
            job.begin(row.id, row.account_id, row.failures)
            query = {"until": row.created_at, **row.query, "position": row.position, "limit": PAGE}
            query |= {name: datetime.fromisoformat(row.query[name]) for name in ("since", "until") if name in row.query}
            rows, end = find_messages(connection, row.account_id, query)
        content = csv_of(rows, header=not row.chunks) if row.format == "csv" else json_lines_of(rows)
        page = {"end": end, "more": len(rows), "reached": rows[-1].created_at if rows else None}
        with transaction(engine) as connection:
            keep_chunk(connection, row.id, row.chunks, content, page)
    return True
