"""Deletes any number of rows in short transactions.

Readers of events wait for every transaction that has written (shared/events/stream.py). One that deleted for a minute
would delay everybody's webhooks by a minute.
"""

import time
from typing import Any

from sqlalchemy import ColumnElement, Delete, Engine, Select, Table, any_, delete, func, literal_column, select

from shared.db.connection import transaction

STEP = 10_000
"""Most rows deleted in one transaction: some tenths of a second."""
SECONDS = 20.0
"""After this long, the rest is left for the next time: whoever deletes has other things to do."""
ROW: ColumnElement[Any] = literal_column("ctid")


def delete_found(table: Table, rows: Select[Any]) -> Delete:
    """A statement that deletes the rows whose `ROW` the query returns. Not for a table with partitions.

    The query ends before the first row is deleted: until then the transaction has not written, however long it takes.
    A row that is changed meanwhile may be deleted all the same, as minor releases of Postgres differ in that: so repeat
    the condition on the DELETE.
    """
    return delete(table).where(any_(func.array(rows.correlate(None).scalar_subquery())) == ROW)


def delete_where(engine: Engine, table: Table, condition: ColumnElement[bool], step: int | None = None) -> int:
    """Delete the rows that meet the condition, `step` or STEP at a time, for up to SECONDS. Returns how many."""
    step = step or STEP
    found = select(ROW).select_from(table).where(condition).limit(step)
    statement = delete_found(table, found).where(condition)
    deleted, end = 0, time.monotonic() + SECONDS
    while True:
        with transaction(engine) as connection:
            rows = connection.execute(statement).rowcount
        deleted += rows
        if rows < step or time.monotonic() > end:
            return deleted
