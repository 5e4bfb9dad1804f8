"""Copies between tables and CSV, as Postgres reads and writes it."""

from collections.abc import Iterable, Iterator

from psycopg import sql
from sqlalchemy import Connection

from shared.db.connection import driver_of


def copy_out(connection: Connection, table: str, columns: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the rows of a table, in order of their ids, as CSV with a header."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    rows = sql.SQL("COPY (SELECT {} FROM {} ORDER BY id) TO STDOUT (FORMAT csv, HEADER)")
    with driver_of(connection).cursor().copy(rows.format(names, sql.Identifier(table))) as copy:
        for block in copy:
            yield bytes(block)


def copy_in(connection: Connection, table: str, columns: tuple[str, ...], blocks: Iterable[bytes]) -> int:
    """Insert such rows into a table. Returns their number."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv, HEADER)").format(sql.Identifier(table), names)
    cursor = driver_of(connection).cursor()
    with cursor.copy(statement) as copy:
        for block in blocks:
            copy.write(block)
    return cursor.rowcount
