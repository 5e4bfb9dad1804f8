"""What statements share is rendered as it must be for plans to be cached and indexes to be used."""

from typing import Any

from sqlalchemy import Executable, Integer, Text, bindparam, column, func, select
from sqlalchemy.dialects.postgresql.psycopg import dialect
from sqlalchemy.sql import ClauseElement

from shared.db.expressions import in_constants, in_parameter, parameter_rows, seconds
from shared.db.tables.sends import batch


def compiled(statement: Executable) -> Any:
    assert isinstance(statement, ClauseElement)
    return statement.compile(dialect=dialect())  # type: ignore[no-untyped-call]


def test_it_works() -> None:
    statement = compiled(select(batch.c.id).where(in_parameter(batch.c.id, "ids")))
    assert "batch.id = ANY (%(ids)s::UUID[])" in str(statement)


def test_constants_are_in_the_text() -> None:
    """Otherwise a cached plan would not use a partial index."""
    statement = compiled(select(batch.c.id).where(in_constants(batch.c.state, "queued", "sending")))
    assert "batch.state IN ('queued', 'sending')" in str(statement)
    assert statement.params == {}


def test_rows_have_a_parameter_for_each_column() -> None:
    rows = parameter_rows("given", batch.c.id, column("name", Text))
    statement = compiled(select(rows.c.id, rows.c.name))
    assert "unnest(%(id)s::UUID[], %(name)s::TEXT[]) AS given(id, name)" in str(statement)
    assert statement.params == {"id": None, "name": None}


def test_a_sum_of_seconds_is_multiplied_as_a_whole() -> None:
    waited = bindparam("waited", type_=Integer) + bindparam("more", type_=Integer)
    assert "* (%(waited)s::INTEGER + %(more)s::INTEGER)" in str(compiled(select(func.now() - seconds(waited))))
