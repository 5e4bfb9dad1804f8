"""Pages of messages, with cursors."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.http.pagination import bad_cursor, from_cursor, to_cursor
from shared.messages.history import MessageRow
from shared.messages.search import BadPosition, find_messages


def page_of_messages(
    connection: Connection, account: int | None, query: dict[str, Any], send: UUID | None = None
) -> tuple[list[MessageRow], str | None]:
    """A page as `find_messages` finds it, and the cursor of the next one. Raises Problem for an invalid cursor."""
    asked = query if "cursor" not in query else {**query, "position": from_cursor(query["cursor"])}
    try:
        page = find_messages(connection, account, asked, send)
    except BadPosition:
        raise bad_cursor() from None
    return page.messages, None if page.end is None else to_cursor(page.end)
