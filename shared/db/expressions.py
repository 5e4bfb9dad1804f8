"""SQL expressions that several statements use."""

from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    Interval,
    TableValuedAlias,
    Text,
    Uuid,
    any_,
    bindparam,
    cast,
    extract,
    func,
    literal,
    literal_column,
)


def in_parameter(column: ColumnElement[Any], parameter: str) -> ColumnElement[bool]:
    """Whether the column equals one of the values of the parameter, a list."""
    return column == any_(bindparam(parameter, type_=ARRAY(column.type)))


def in_constants(column: ColumnElement[Any], *values: str) -> ColumnElement[bool]:
    """Whether the column equals one of the values, which are the code's own and stand in the statement's text.

    A partial index is only used if the statement names its condition: with parameters a cached plan would not use it.
    """
    assert all(value.isidentifier() for value in values)
    return column.in_([literal_column(f"'{value}'") for value in values])


def parameter_rows(alias: str, *columns: Any) -> TableValuedAlias:
    """Rows whose columns are parameters, each a list of values: one statement for any number of rows.

    The parameters have the names and types of `columns`, which are columns of tables or `column(name, type)`.
    """
    arrays: list[BindParameter[Any]] = [bindparam(each.name, type_=ARRAY(each.type)) for each in columns]
    return func.unnest(*arrays).table_valued(*columns).render_derived(name=alias)


def seconds(number: ColumnElement[Any]) -> ColumnElement[Any]:
    """An interval of this many seconds."""
    return literal(timedelta(seconds=1), Interval).op("*", precedence=8, return_type=Interval())(number)


def is_live(held_until: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether the process with this lease lives. No process leases itself for a minute: a lease that ends later is from
    before the clock of the database was set back.
    """
    return held_until.between(func.clock_timestamp(), func.clock_timestamp() + timedelta(minutes=1))


def last_message_id(batch_id: ColumnElement[Any]) -> ColumnElement[Any]:
    """The largest id that a message of the batch can have. An index on messages' ids finds all of the batch by it."""
    return cast(func.overlay(cast(batch_id, Text), "ffff", 33), Uuid)


def first_id_at(moment: ColumnElement[Any]) -> ColumnElement[Any]:
    """The smallest id that is made at that time: `shared.ids.first_id_at` by the database's clock."""
    milliseconds = cast(1000 * extract("epoch", moment), BigInteger)
    return cast(func.rpad(func.lpad(func.to_hex(milliseconds), 12, "0"), 32, "0"), Uuid)
