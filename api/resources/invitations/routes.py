"""Invitations to an account: list, create and revoke them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.act_once import act_once_with_secret
from api.auth.still_valid import lock_caller
from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.idempotency import IdempotentResponse
from api.problems import Problem
from api.resources.invitations.schemas import (
    InvitationResponse,
    Invite,
    NewInvitationResponse,
    RevokedInvitationResponse,
)
from api.resources.people.grants import refuse_more
from api.schemas.paging import by_id
from shared.accounts.audit_log import Actor
from shared.people import invitations


@endpoint("GET", "/invitations", pages=by_id(InvitationResponse), scope="people:read")
def list_invitations(caller: Caller, connection: Connection, after: UUID, limit: int) -> Any:
    """List the account's open invitations."""
    return invitations.list_invitations(connection, caller.account_id, after, limit)


@endpoint(
    "POST",
    "/invitations",
    body=Invite,
    response=NewInvitationResponse,
    errors=("state_conflict",),
    scope="people:write",
)
def create_invitation(caller: Caller, by: Actor, body: dict[str, Any]) -> IdempotentResponse:
    """Invite a person to the account. The token of the invitation is shown only once, and is valid for 7 days.

    Nothing is sent: pass the link with the token on. Another invitation of the same person replaces this one.

    A repeated request with the same `Idempotency-Key` gets the same response without the token.
    """

    def act(connection: Connection) -> tuple[Any, str]:
        lock_caller(connection, caller)
        refuse_more(connection, caller, body["role"])
        replaced = invitations.open_role(connection, caller.account_id, body["email"])
        if replaced is not None:
            refuse_more(connection, caller, replaced)
        new = invitations.invite(connection, body["email"], caller.account_id, body["role"], by=by)
        return invitations.find_invitation(connection, caller.account_id, new.id), new.token

    return act_once_with_secret(caller, body, "token", act)


@endpoint("DELETE", "/invitations/<uuid:invitation_id>", response=RevokedInvitationResponse, scope="people:write")
def delete_invitation(caller: Caller, connection: Connection, by: Actor, invitation_id: UUID) -> Any:
    """Revoke an invitation, so that it cannot be accepted any more."""
    lock_caller(connection, caller)
    row = invitations.find_invitation(connection, caller.account_id, invitation_id)
    if row is not None:
        refuse_more(connection, caller, row.role)
        if invitations.revoke_invitation(connection, caller.account_id, invitation_id, by=by):
            return {"invitation_id": invitation_id, "revoked": True}
    raise Problem("invitation_not_found", "Your account has no such open invitation.")
