"""Paging: the query of a list, and the schema of its page."""

from functools import cache

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.fields import IN_RANGE, Request, doc

MAX_ITEMS = 1_000
"""Entries on a page."""
CURSOR = "MDE5Y2FkMWUtM2Y3OS03YTA4LWIzYzYtOTFmMjRkZTUwMDAx"


def limit(
    description: str = "Entries on a page, 1 to 1,000.", *, default: int | None = 50, example: int = 50
) -> fields.Integer:
    """The query parameter that says how many entries a page has."""
    return fields.Integer(
        load_default=default,
        validate=validate.Range(1, MAX_ITEMS, error=IN_RANGE),
        metadata=doc(description, example),
    )


def cursor() -> fields.String:
    """The query parameter at which a page begins."""
    return fields.String(metadata=doc("`next_cursor` of the previous page.", CURSOR, pattern="^[A-Za-z0-9_-]+$"))


def next_cursor() -> fields.String:
    """The field of a page at which the next one begins."""
    return fields.String(
        required=True, allow_none=True, metadata=doc("The `cursor` of the next page; null on the last page.")
    )


class Paging(Request):
    """Paging through a list."""

    limit = limit()
    cursor = cursor()


@cache
def page_of(item: type[Schema]) -> type[Schema]:
    """The schema of a page of items."""
    return Schema.from_dict(
        {
            "data": fields.List(fields.Nested(item), required=True, metadata=doc("The entries.")),
            "next_cursor": next_cursor(),
        },
        name=item.__name__.replace("Response", "Page"),
    )
