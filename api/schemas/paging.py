"""Paging: the query of a list, and the schema of its page."""

from functools import cache

from api.schemas import fields
from api.schemas.base import Request, Response

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


def _named(item: type[Response], kind: str, members: dict[str, fields.Coded]) -> type[Response]:
    schema = Response.from_dict(dict(members), name=item.__name__.replace("Response", kind))
    assert issubclass(schema, Response)
    return schema
