"""Reads for lists and reports, bounded in time and in the number of rows that an unindexed filter examines."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, bindparam, func, select

from shared.db.connection import STATEMENT_MILLISECONDS, reading

STATEMENT_SECONDS = 5
"""Timeout of each statement of a list or report. The request then fails with 503 `unavailable`."""
MAX_ROWS_EXAMINED = 10_000
"""Rows examined for one page of a filtered list."""

SET_TIMEOUT = select(func.set_config("statement_timeout", bindparam("milliseconds"), False))
SET_IN_TRANSACTION = select(func.set_config("statement_timeout", bindparam("milliseconds"), True))


@contextmanager
def reading_list(engine: Engine) -> Iterator[Connection]:
    """A read-only connection for lists and reports: each statement is canceled after STATEMENT_SECONDS."""
    with reading(engine) as connection:
        connection.execute(SET_TIMEOUT, {"milliseconds": str(int(1000 * STATEMENT_SECONDS))})
        try:
            yield connection
        finally:
            if not connection.invalidated:
                connection.execute(SET_TIMEOUT, {"milliseconds": str(STATEMENT_MILLISECONDS)})


def bound_statements(connection: Connection) -> None:
    """The same limit for a list that writes: each later statement of its transaction ends after STATEMENT_SECONDS."""
    connection.execute(SET_IN_TRANSACTION, {"milliseconds": str(int(1000 * STATEMENT_SECONDS))})


def last_examined(connection: Connection, positions: Select[Any]) -> Row[Any] | None:
    """The last row that this page may examine; None if fewer rows than the limit remain.

    `positions` selects the cursor positions of the remaining rows, in the list's order, by an index.
    """
    return connection.execute(positions.offset(MAX_ROWS_EXAMINED - 1).limit(1)).one_or_none()
