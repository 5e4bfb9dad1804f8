"""Contact groups."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, text

from api.auth.tokens import Caller
from api.commit.draft import encode
from api.commit.idempotency import IdempotentResponse, once
from api.endpoint import endpoint, key_of_request, services
from api.http.pagination import page, uuid_cursor
from api.problems import Problem
from api.resources.groups.schemas import DeletedGroupResponse, GroupBody, GroupPaging, GroupResponse
from api.schemas.paging import page_of
from shared.contacts import groups as contacts
from shared.db.connection import reading

GROUPS = text(
    """
    SELECT id, name, contact_count, created_at, updated_at FROM contact_group
     WHERE account_id = :account AND deleted_at IS NULL AND id > :after ORDER BY id LIMIT :limit
    """
)
GROUP = text(
    """
    SELECT g.id, g.name, g.contact_count, g.created_at, g.updated_at, a.country
      FROM contact_group g JOIN account a ON a.id = g.account_id
     WHERE g.id = :group AND g.account_id = :account AND g.deleted_at IS NULL
    """
)
FIRST = UUID(int=0)

GROUP_RESPONSE = GroupResponse()
DELETED_GROUP = DeletedGroupResponse()


@endpoint(
    "GET",
    "/groups",
    query=GroupPaging,
    response=page_of(GroupResponse),
    errors=("validation_failed",),
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
    with reading(services().engine) as connection:
        rows = connection.execute(GROUPS, parameters).all()
    return page(rows, limit if limit is not None else len(rows), GROUP_RESPONSE.dump, lambda row: str(row.id))


@endpoint(
    "POST",
    "/groups",
    body=GroupBody,
    response=GroupResponse,
    errors=("name_taken", "group_limit"),
    scope="groups:write",
)
def new_group(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Create an empty group."""
    key = key_of_request(caller, body)
    with services().engine.begin() as connection:

        def act() -> str:
            try:
                group_id = contacts.create_group(connection, caller.account_id, body["name"])
            except contacts.NameTaken:
                raise name_taken(body["name"]) from None
            except contacts.TooManyGroups as limit:
                raise Problem("group_limit", str(limit)) from None
            return encode(GROUP_RESPONSE.dump(find_group(connection, caller, group_id)))

        return once(connection, key, act)


@endpoint("GET", "/groups/<uuid:group_id>", response=GroupResponse, errors=("group_not_found",), scope="groups:read")
def group(caller: Caller, group_id: UUID) -> Any:
    """Show one group."""
    with reading(services().engine) as connection:
        return GROUP_RESPONSE.dump(find_group(connection, caller, group_id))


@endpoint(
    "PATCH",
    "/groups/<uuid:group_id>",
    body=GroupBody,
    response=GroupResponse,
    errors=("group_not_found", "name_taken"),
    scope="groups:write",
)
def rename_group(caller: Caller, group_id: UUID, body: dict[str, Any]) -> Any:
    """Rename a group."""
    with services().engine.begin() as connection:
        find_group(connection, caller, group_id)
        try:
            contacts.rename_group(connection, group_id, body["name"])
        except contacts.NameTaken:
            raise name_taken(body["name"]) from None
        except contacts.UnknownGroup:
            raise group_not_found(group_id) from None
        return GROUP_RESPONSE.dump(find_group(connection, caller, group_id))


@endpoint(
    "DELETE",
    "/groups/<uuid:group_id>",
    response=DeletedGroupResponse,
    errors=("group_not_found",),
    scope="groups:write",
)
def delete_group(caller: Caller, group_id: UUID) -> Any:
    """Delete a group and its contacts. Sends already accepted continue, and the name becomes available."""
    with services().engine.begin() as connection:
        find_group(connection, caller, group_id)
        try:
            contacts.delete_group(connection, group_id)
        except contacts.UnknownGroup:
            raise group_not_found(group_id) from None
    return DELETED_GROUP.dump({"group_id": group_id, "deleted": True})


def find_group(connection: Connection, caller: Caller, group_id: UUID) -> Row[Any]:
    """One of the account's groups, with the account's country. Raises Problem group_not_found, also for another's."""
    row = connection.execute(GROUP, {"group": group_id, "account": caller.account_id}).one_or_none()
    if row is None:
        raise group_not_found(group_id)
    return row


def group_not_found(group_id: UUID) -> Problem:
    """A 404."""
    return Problem("group_not_found", f"Your account has no group {group_id}.")


def name_taken(name: str) -> Problem:
    """A 409."""
    return Problem("name_taken", f"Your account already has a group {name!r}.")
