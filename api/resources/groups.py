"""Contact groups."""

from typing import Any
from uuid import UUID

from sqlalchemy import text

from api.answers.account import GroupAnswer
from api.answers.base import page_of
from api.endpoint import endpoint, services, timestamp
from api.paging import page, uuid_cursor
from api.schemas.paging import GroupPaging
from api.tokens import Caller

GROUPS = text(
    """
    SELECT id, name, contact_count, created_at, updated_at FROM contact_group
     WHERE account_id = :account AND deleted_at IS NULL AND id > :after ORDER BY id LIMIT :limit
    """
)
FIRST = UUID(int=0)


@endpoint(
    "GET",
    "/groups",
    query=GroupPaging,
    answers=page_of(GroupAnswer),
    fails=("validation_failed",),
    scope="groups:read",
)
def groups(caller: Caller, query: dict[str, Any]) -> Any:
    """List the contact groups with their contact counts. Without parameters, all of them."""
    limit = query["limit"]
    if limit is None and "cursor" in query:
        limit = 1000
    parameters = {
        "account": caller.account_id,
        "after": uuid_cursor(query.get("cursor")) or FIRST,
        "limit": None if limit is None else limit + 1,
    }
    with services().engine.connect() as connection:
        rows = connection.execute(GROUPS, parameters).all()
    return page(rows, limit if limit is not None else len(rows), _group, lambda row: str(row.id))


def _group(row: Any) -> dict[str, Any]:
    return {
        "group_id": str(row.id),
        "name": row.name,
        "contact_count": row.contact_count,
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }
