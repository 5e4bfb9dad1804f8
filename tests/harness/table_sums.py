"""Sums over the rows of each table, by which a test sees whether anything in the database has changed."""

from functools import cache

from sqlalchemy import Engine, TextClause, text

from shared.db.connection import reading
from tests.harness.declared_tables import metadata

ROW = "t::text"
SUM = "SELECT '{name}', md5(string_agg({row}, '' ORDER BY {row})) FROM {name} t"


def table_sums(engine: Engine, *without: str, row: str = ROW) -> dict[str, str | None]:
    """A sum over the rows of each table, but for some: it changes when anything in the table does.

    `row` is the text of a row `t` in SQL.
    """
    with reading(engine) as connection:  # where the statement stays prepared: planning it takes longest
        return {found[0]: found[1] for found in connection.execute(_statement(frozenset(without), row))}


@cache
def _statement(without: frozenset[str], row: str) -> TextClause:
    assert without < metadata.tables.keys()
    names = sorted(metadata.tables.keys() - without)
    return text(" UNION ALL ".join(SUM.format(name=name, row=row) for name in names))
