"""Tokens of the person who is signed in: for their accounts, and for the operator API."""

from typing import Any

from sqlalchemy import bindparam, select

from api.actor import by_person
from api.auth.caller import Membership
from api.auth.person_sessions import SignedIn
from api.auth.token_claims import VALID_FOR_PEOPLE
from api.endpoint import endpoint, services
from api.problems import Problem
from api.resources.auth.token_response import token_fields
from api.resources.me.schemas import AccountTokenResponse, OperatorTokenRequest, PersonTokenResponse, TokenRequest
from shared.accounts.audit_log import record
from shared.accounts.sandbox import ensure_sandbox
from shared.db.connection import reading
from shared.db.tables.accounts import account
from shared.people.memberships import find_membership
from shared.people.persons import actor_of, find_person
from shared.people.roles import OPERATOR_ROLE_SCOPES, ROLE_SCOPES, OperatorRole
from shared.people.sessions import holder_of

LOCK_ACCOUNT = select(account.c.id).where(account.c.id == bindparam("account")).with_for_update(key_share=True)
SANDBOX = select(account.c.id).where(account.c.sandbox_of == bindparam("account"))


@endpoint(
    "POST",
    "/me/token",
    body=TokenRequest,
    response=AccountTokenResponse,
    errors=("account_not_found", "account_suspended"),
    scope=None,
    session=True,
)
def create_my_token(signed_in: SignedIn, body: dict[str, Any]) -> Any:
    """Get a token for one of the person's accounts, or its sandbox, with the scopes of their role.

    It is a bearer token like those of API keys, valid for ten minutes. It stops working within five seconds of the end
    of the session, and of a change of their role.
    """
    requested, test = body["account_id"], body["test"]
    with reading(services().engine) as connection:
        found = find_membership(connection, signed_in.person_id, requested)
    if found is None:
        raise Problem("account_not_found", "You are not a member of this account.")
    if found.state != "active":
        raise Problem("account_suspended", "This account may not use the service at the moment.")
    account_id = _sandbox_of(signed_in, requested) if test and found.sandbox_of is None else requested
    in_sandbox = test or found.sandbox_of is not None
    membership = Membership(requested, found.version, str(signed_in.session_id))
    scopes = [each for each in ROLE_SCOPES[found.role] if not in_sandbox or not each.startswith("people:")]
    token, caller = services().tokens.issue_to_person(
        actor_of(signed_in.person_id), membership, scopes, account_id, test=in_sandbox
    )
    about = {"role": found.role, "account_id": requested, "test": caller.test}
    return token_fields(token, caller, VALID_FOR_PEOPLE) | about


def _sandbox_of(signed_in: SignedIn, account_id: int) -> int:
    """The account's sandbox, which is created if it has none."""
    with reading(services().engine) as connection:
        existing = connection.execute(SANDBOX, {"account": account_id}).scalar()
    if existing is not None:
        return int(existing)
    with services().engine.begin() as connection:
        connection.execute(LOCK_ACCOUNT, {"account": account_id})
        return ensure_sandbox(connection, account_id, by=by_person(signed_in.person_id))


@endpoint(
    "POST",
    "/me/operator-token",
    body=OperatorTokenRequest,
    response=PersonTokenResponse,
    errors=("not_an_operator",),
    scope=None,
    session=True,
)
def create_my_operator_token(signed_in: SignedIn, body: dict[str, Any]) -> Any:
    """Get a token for the operator API, with the scopes of the person's role in the installation.

    Those of `support` include `texts`, to see texts and full phone numbers, only with a `reason`, which is recorded in
    the audit log. The token is valid for ten minutes, and stops working within five seconds of the end of the
    session.
    """
    person_id, reason = signed_in.person_id, body.get("reason")
    with services().engine.begin() as connection:
        person = find_person(connection, person_id)
        if person is None or person.operator_role is None:
            raise Problem("not_an_operator", "You have no role in the installation.")
        scopes = set(OPERATOR_ROLE_SCOPES[person.operator_role])
        if person.operator_role == OperatorRole.SUPPORT and reason is None:
            scopes.discard("texts")
        if reason is not None:
            record(connection, by_person(person_id), "person.sees_texts", subject=person_id, reason=reason)
    token, operator = services().operator_tokens.issue(
        actor_of(person_id), scopes, VALID_FOR_PEOPLE, ends_with=(holder_of(signed_in.session_id),)
    )
    return token_fields(token, operator, VALID_FOR_PEOPLE)
