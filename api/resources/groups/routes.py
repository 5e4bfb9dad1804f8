"""Contact groups."""

from typing import Any
from uuid import UUID

from sqlalchemy import Column, Connection, Row, Select, and_, bindparam, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.http.pagination import page, uuid_cursor
from api.problems import Problem
from api.resources.groups.schemas import DeletedGroupResponse, GroupBody, GroupPaging, GroupResponse
from api.schemas.paging import page_of
from shared.contacts import groups as contacts
from shared.db.tables.accounts import account
from shared.db.tables.contacts import contact_group
from shared.ids import FIRST_ID

FIELDS: tuple[Column[Any], ...] = (*contact_group.c["id", "name", "contact_count", "created_at", "updated_at"],)
OF_ACCOUNT = and_(contact_group.c.account_id == bindparam("account"), contact_group.c.deleted_at.is_(None))
GROUPS = select(*FIELDS).where(OF_ACCOUNT, contact_group.c.id > bindparam("after")).order_by("id")
GROUP: Select[Any] = (
    select(*FIELDS, account.c.country)
    .join(account, account.c.id == contact_group.c.account_id)
    .where(OF_ACCOUNT, contact_group.c.id == bindparam("group"))
)


@endpoint("GET", "/groups", query=GroupPaging, response=page_of(GroupResponse), scope="groups:read")
def list_groups(caller: Caller, connection: Connection, query: dict[str, Any]) -> Any:
    """List the contact groups with their contact counts. Without parameters, all of them."""
    limit = query["limit"]
    if limit is None and "cursor" in query:
        limit = 1000
    parameters = {"account": caller.account_id, "after": uuid_cursor(query.get("cursor")) or FIRST_ID}
    listed = GROUPS.limit(None if limit is None else limit + 1)
    if "search" in query:
        listed = listed.where(contact_group.c.name.icontains(query["search"], autoescape=True))
    rows = connection.execute(listed, parameters).all()
    return page(rows, limit if limit is not None else len(rows), lambda row: str(row.id))


@endpoint(
    "POST",
    "/groups",
    body=GroupBody,
    response=GroupResponse,
    errors=("name_taken", "group_limit"),
    scope="groups:write",
)
def create_group(caller: Caller, connection: Connection, body: dict[str, Any]) -> Any:
    """Create an empty group."""
    return find_group(connection, caller, contacts.create_group(connection, caller.account_id, body["name"]))


@endpoint("GET", "/groups/<uuid:group_id>", response=GroupResponse, scope="groups:read")
def get_group(caller: Caller, connection: Connection, group_id: UUID) -> Any:
    """Show one group."""
    return find_group(connection, caller, group_id)


@endpoint(
    "PATCH",
    "/groups/<uuid:group_id>",
    body=GroupBody,
    response=GroupResponse,
    errors=("name_taken",),
    scope="groups:write",
)
def rename_group(caller: Caller, connection: Connection, group_id: UUID, body: dict[str, Any]) -> Any:
    """Rename a group."""
    find_group(connection, caller, group_id)
    contacts.rename_group(connection, group_id, body["name"])
    return find_group(connection, caller, group_id)


@endpoint("DELETE", "/groups/<uuid:group_id>", response=DeletedGroupResponse, scope="groups:write")
def delete_group(caller: Caller, connection: Connection, group_id: UUID) -> Any:
    """Delete a group and its contacts. Sends already accepted continue, and the name becomes available."""
    find_group(connection, caller, group_id)
    contacts.delete_group(connection, group_id)
    return {"group_id": group_id, "deleted": True}


def find_group(connection: Connection, caller: Caller, group_id: UUID) -> Row[Any]:
    """One of the account's groups, with the account's country. Raises Problem group_not_found, also for another's."""
    row = connection.execute(GROUP, {"group": group_id, "account": caller.account_id}).one_or_none()
    if row is None:
        raise Problem("group_not_found", f"Your account has no group {group_id}.")
    return row
