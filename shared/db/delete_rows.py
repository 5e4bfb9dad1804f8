"""Deletes any number of rows in short transactions.

Readers of events wait for every transaction that has written (shared/events/stream.py). One that deleted for a minute
would delay everybody's webhooks by a minute.
"""

from typing import Any

from sqlalchemy import ColumnElement, Delete, Engine, Select, Table, any_, delete, func, literal_column, select

from shared.db.connection import transaction

STEP = 10_000
"""Most rows deleted in one transaction: some tenths of a second."""
ROW: ColumnElement[Any] = literal_column("ctid")


def delete_found(table: Table, rows: Select[Any]) -> Delete:
    """A statement that deletes the rows whose `ROW` the query returns.

    The query ends before the first row is deleted: until then the transaction has not written, however long it takes.
    """
    return delete(table).where(any_(func.array(rows.correlate(None).scalar_subquery())) == ROW)


def delete_where(engine: Engine, table: Table, condition: ColumnElement[bool]) -> int:
    """Delete all rows that meet the condition, step by step. Returns how many they were."""
    statement = delete_found(table, select(ROW).select_from(table).where(condition).limit(STEP))
    deleted = 0
    while True:
        with transaction(engine) as connection:
            rows = connection.execute(statement).rowcount
        deleted += rows
        if rows < STEP:
            return deleted
