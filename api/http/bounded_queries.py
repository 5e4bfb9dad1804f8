"""Reads for lists and reports, bounded in time and in the number of rows that an unindexed filter examines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, bindparam, func, select, tuple_

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


def filtered_page(
    connection: Connection,
    listed: Select[Any],
    order: Sequence[ColumnElement[Any]],
    filters: Sequence[ColumnElement[bool]],
    limit: int,
    *,
    newest_first: bool = False,
) -> tuple[Sequence[Row[Any]], Row[Any] | None]:
    """Up to `limit` rows of a list that pass the filters, and the last row examined if more remain.

    `listed` selects the rows that remain, by an index that gives them in this order. No index serves the filters.
    """
    by = [column.desc() if newest_first else column for column in order]
    end = last_examined(connection, listed.with_only_columns(*order).order_by(*by)) if filters else None
    if end is not None:
        place, last = tuple_(*order), tuple_(*end)
        listed = listed.where(place >= last if newest_first else place <= last)
    return connection.execute(listed.where(*filters).order_by(*by).limit(limit)).all(), end
