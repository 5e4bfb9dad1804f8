"""The people of an account: list them, change their roles, and remove them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row

from api.actor import by_caller
from api.auth.still_valid import lock_caller
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.problems import Problem
from api.resources.people.grants import refuse_more
from api.resources.people.schemas import ChangeRole, MemberResponse, RemovedMemberResponse
from api.schemas.paging import by_id
from shared.people.memberships import change_role, end_membership, find_member, list_members


@endpoint("GET", "/people", pages=by_id(MemberResponse, "person_id"), scope="people:read")
def list_people(caller: Caller, connection: Connection, after: UUID, limit: int) -> Any:
    """List the people of the account, with their roles."""
    return list_members(connection, caller.account_id, after, limit)


@endpoint(
    "PATCH",
    "/people/<uuid:person_id>",
    body=ChangeRole,
    response=MemberResponse,
    errors=("state_conflict",),
    scope="people:write",
)
def update_person(caller: Caller, person_id: UUID, body: dict[str, Any]) -> Any:
    """Change the role of a person in the account. Their tokens for it stop working within five seconds.

    The last owner keeps that role.
    """
    with services().engine.begin() as connection:
        lock_caller(connection, caller, owners=True)
        member = _member(connection, caller, person_id)
        refuse_more(connection, caller, member.role)
        refuse_more(connection, caller, body["role"])
        change_role(connection, caller.account_id, person_id, body["role"], by=by_caller(caller))
        changed = _member(connection, caller, person_id)
    services().tokens.reload()
    return changed


@endpoint(
    "DELETE",
    "/people/<uuid:person_id>",
    response=RemovedMemberResponse,
    errors=("state_conflict",),
    scope="people:write",
)
def remove_person(caller: Caller, person_id: UUID) -> Any:
    """Remove a person from the account. Their tokens for it stop working within five seconds.

    The last owner cannot be removed.
    """
    with services().engine.begin() as connection:
        lock_caller(connection, caller, owners=True)
        refuse_more(connection, caller, _member(connection, caller, person_id).role)
        end_membership(connection, caller.account_id, person_id, by=by_caller(caller))
    services().tokens.reload()
    return {"person_id": person_id, "removed": True}


def _member(connection: Connection, caller: Caller, person_id: UUID) -> Row[Any]:
    member = find_member(connection, caller.account_id, person_id)
    if member is None:
        raise Problem("person_not_found", "Your account has no such person.")
    return member
