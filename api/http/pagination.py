"""Pages of a list: `limit`, and a cursor to the end of the previous page."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from api.http.json_body import UNSTORABLE
from api.problems import Problem, invalid

MAX_CURSOR_LENGTH = 1_000
"""Characters. The cursors that we issue are shorter."""


def page(
    rows: Sequence[Any],
    limit: int,
    position: Callable[[Any], str],
    *,
    item: Callable[[Any], Any] | None = None,
    end: Any = None,
) -> dict[str, Any]:
    """The response for up to `limit + 1` rows: an extra row means that there is a next page.

    `item` makes the entry of a row, if the row is not the entry. `end` is the last row that was examined, if there are
    more rows after it.
    """
    shown = rows[:limit]
    more = len(rows) > limit
    last = shown[-1] if more else end
    data = shown if item is None else [item(row) for row in shown]
    return {"data": data, "next_cursor": None if last is None else to_cursor(position(last))}


def to_cursor(position: str) -> str:
    """Encode a position in a list as a cursor."""
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> str:
    """Decode a cursor to its position in the list. Raises Problem validation_failed."""
    if len(cursor) > MAX_CURSOR_LENGTH:
        raise bad_cursor()
    try:
        position = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise bad_cursor() from None
    if UNSTORABLE.search(position):
        raise bad_cursor()
    return position


def uuid_cursor(cursor: str | None) -> UUID | None:
    """Decode a cursor to an id; None without a cursor. Raises Problem validation_failed."""
    if cursor is None:
        return None
    try:
        return UUID(from_cursor(cursor))
    except ValueError:
        raise bad_cursor() from None


def number_cursor(cursor: str | None, default: int) -> int:
    """Decode a cursor to a number; `default` without a cursor. Raises Problem validation_failed."""
    if cursor is None:
        return default
    position = from_cursor(cursor)
    if not (position.isascii() and position.isdigit() and len(position) < 19):
        raise bad_cursor()
    return int(position)


def text_cursor(cursor: str | None) -> str:
    """Decode a cursor to a string, empty without a cursor. Raises Problem validation_failed."""
    if cursor is None:
        return ""
    position = from_cursor(cursor)
    if not position:
        raise bad_cursor()
    return position


def list_cursor(cursor: str | None, count: int) -> list[str] | None:
    """Decode a cursor to `count` strings; None without a cursor. Raises Problem validation_failed."""
    if cursor is None:
        return None
    try:
        position = json.loads(from_cursor(cursor))
    except (ValueError, RecursionError):
        raise bad_cursor() from None
    if not isinstance(position, list) or len(position) != count:
        raise bad_cursor()
    if not all(isinstance(each, str) and not UNSTORABLE.search(each) for each in position):
        raise bad_cursor()
    return position


def bad_cursor() -> Problem:
    """The error for a cursor that we did not issue."""
    return invalid(
        [{"pointer": "/cursor", "code": "invalid", "detail": "Use `next_cursor` of the previous page, unchanged."}]
    )
