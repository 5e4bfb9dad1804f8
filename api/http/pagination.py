"""Pages of lists: `limit`, and a cursor that says where the last page ended."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from api.http.problems import Problem, invalid

LONGEST_CURSOR = 1_000
"""Characters; ours are shorter."""


def page(
    rows: Sequence[Any],
    limit: int,
    item: Callable[[Any], dict[str, Any]],
    position: Callable[[Any], str],
    end: Any = None,
) -> Any:
    """The answer for up to `limit + 1` rows: one more than fits tells that there is a next page.

    `end` is the last row that was examined, where there are more behind it.
    """
    shown = rows[:limit]
    more = len(rows) > limit
    last = shown[-1] if more else end
    return {"data": [item(row) for row in shown], "next_cursor": None if last is None else to_cursor(position(last))}


def to_cursor(position: str) -> str:
    """A cursor for a place in a list."""
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> str:
    """The place that a cursor stands for. Raises Problem validation_failed."""
    if len(cursor) > LONGEST_CURSOR:
        raise bad_cursor()
    try:
        position = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except ValueError:
        raise bad_cursor() from None
    if not position.isprintable():
        raise bad_cursor()
    return position


def uuid_cursor(cursor: str | None) -> UUID | None:
    """The id that a cursor stands for; None without one. Raises Problem validation_failed."""
    if cursor is None:
        return None
    try:
        return UUID(from_cursor(cursor))
    except ValueError:
        raise bad_cursor() from None


def number_cursor(cursor: str | None, default: int) -> int:
    """The number that a cursor stands for. Raises Problem validation_failed."""
    if cursor is None:
        return default
    position = from_cursor(cursor)
    if not (position.isdigit() and len(position) < 19):
        raise bad_cursor()
    return int(position)


def text_cursor(cursor: str | None) -> str:
    """The text that a cursor stands for, empty without one. Raises Problem validation_failed."""
    if cursor is None:
        return ""
    position = from_cursor(cursor)
    if not position:
        raise bad_cursor()
    return position


def list_cursor(cursor: str | None, count: int) -> list[str] | None:
    """The texts, so many of them, that a cursor stands for; None without one. Raises Problem validation_failed."""
    if cursor is None:
        return None
    try:
        position = json.loads(from_cursor(cursor))
    except (ValueError, RecursionError):
        raise bad_cursor() from None
    if not isinstance(position, list) or len(position) != count:
        raise bad_cursor()
    if not all(isinstance(each, str) and each.isprintable() for each in position):
        raise bad_cursor()
    return position


def bad_cursor() -> Problem:
    """The cursor is not one that we gave."""
    return invalid(
        [{"pointer": "/cursor", "code": "invalid", "detail": "Use `next_cursor` of the previous page, unchanged."}]
    )
