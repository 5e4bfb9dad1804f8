"""Paging: the query of a list, its order, and the schema of its page."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from api.http.pagination import number_cursor, text_cursor, uuid_cursor
from api.schemas import fields
from api.schemas.base import Request, Response
from shared.ids import FIRST_ID, LAST_ID, LAST_NUMBER

MAX_ITEMS = 1_000
"""Entries on a page."""
CURSOR = "MDE5Y2FkMWUtM2Y3OS03YTA4LWIzYzYtOTFmMjRkZTUwMDAx"


def limit(
    description: str = "Entries on a page, 1 to 1,000.", *, default: int | None = 50, example: int = 50
) -> fields.Integer:
    """The query parameter that says how many entries a page has."""
    return fields.Integer(description, example, load_default=default, validate=fields.between(1, MAX_ITEMS))


def cursor() -> fields.String:
    """The query parameter at which a page begins."""
    return fields.String("`next_cursor` of the previous page.", CURSOR, pattern="^[A-Za-z0-9_-]+$")


def next_cursor() -> fields.String:
    """The field of a page at which the next one begins."""
    return fields.String("The `cursor` of the next page; null on the last page.", allow_none=True)


class Paging(Request):
    """Paging through a list."""

    limit = limit()
    cursor = cursor()


@cache
def list_of(item: type[Response]) -> type[Response]:
    """The schema of all items at once."""
    data = fields.List(fields.Nested(item), "The entries.")
    return _named(item, "List", {"data": data})


@cache
def page_of(item: type[Response]) -> type[Response]:
    """The schema of a page of items."""
    data = fields.List(fields.Nested(item), "The entries.")
    return _named(item, "Page", {"data": data, "next_cursor": next_cursor()})


class Pages(NamedTuple):
    """A list that is read page by page: its items and, for its order, the column that tells their places."""

    item: type[Response]
    column: str
    name: str
    """Whether the items of a page are `after` or `before` the place of its cursor."""
    read: Callable[[str | None], Any]
    """The place of a cursor; without one, that before all items."""

    def place_of(self, row: Any) -> str:
        """The place of a row, for a cursor."""
        return str(row[self.column] if isinstance(row, Mapping) else getattr(row, self.column))


def by_id(item: type[Response], column: str = "id") -> Pages:
    """By UUIDs, the oldest first."""
    return Pages(item, column, "after", lambda cursor: uuid_cursor(cursor) or FIRST_ID)


def newest_id(item: type[Response], column: str = "id") -> Pages:
    """By UUIDs, the newest first."""
    return Pages(item, column, "before", lambda cursor: uuid_cursor(cursor) or LAST_ID)


def by_number(item: type[Response], column: str = "id") -> Pages:
    """By numbers, the lowest first."""
    return Pages(item, column, "after", lambda cursor: number_cursor(cursor, 0))


def newest_number(item: type[Response], column: str = "id") -> Pages:
    """By numbers, the highest first."""
    return Pages(item, column, "before", lambda cursor: number_cursor(cursor, LAST_NUMBER))


def by_text(item: type[Response], column: str = "id") -> Pages:
    """By texts."""
    return Pages(item, column, "after", text_cursor)


def _named(item: type[Response], kind: str, members: dict[str, fields.Coded]) -> type[Response]:
    schema = Response.from_dict(dict(members), name=item.__name__.replace("Response", kind))
    assert issubclass(schema, Response)
    return schema
