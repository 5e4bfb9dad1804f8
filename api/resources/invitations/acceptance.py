"""What an invited person does with her invitation: look at it, and accept it."""

from typing import Any

from sqlalchemy import Connection, Row

from api.actor import by_person
from api.auth.tokens import BEARER
from api.endpoint import endpoint, services
from api.problems import Problem, invalid
from api.resources.invitations.schemas import Acceptance, InvitationPreviewResponse, InvitationToken
from api.resources.sign_in.responses import (
    begin,
    check_code,
    check_password,
    lock_checked,
    origin,
    refuse_passwords_if_off,
)
from api.resources.sign_in.schemas import SignedInResponse
from shared.db.connection import reading
from shared.people.invitations import accept, open_invitation
from shared.people.passwords import hash_password, password_problem
from shared.people.persons import create_person, lock_person, person_by_email, person_signing_in


@endpoint(
    "POST",
    "/invitations/preview",
    body=InvitationToken,
    response=InvitationPreviewResponse,
    errors=("invalid_link", "rate_limited"),
    scope=None,
)
def preview_invitation(body: dict[str, Any]) -> Any:
    """Show what an invitation offers, to whoever has its token."""
    with (
        services().password_attempts.of_address(origin().network),
        reading(services().engine) as connection,
    ):
        invitation = find_open(connection, body["token"])
        existing = person_by_email(connection, invitation.email) is not None
    return InvitationPreviewResponse().dump({**invitation._mapping, "existing_person": existing})


@endpoint(
    "POST",
    "/invitations/accept",
    body=Acceptance,
    response=SignedInResponse,
    errors=("invalid_link", "invalid_credentials", "code_required", "invalid_code", "passwords_off", "rate_limited"),
    scope=None,
)
def accept_invitation(body: dict[str, Any]) -> Any:
    """Accept an invitation and sign in. Of a person who has signed up before, it takes her password, and code."""
    refuse_passwords_if_off()
    network = origin().network
    with services().password_attempts.of_address(network):
        with reading(services().engine) as connection:
            invitation = find_open(connection, body["token"])
            found = person_signing_in(connection, invitation.email, network)
        if found is not None:
            return _accept_as(found, body, network)
        return _accept_as_new(invitation, body)


def _accept_as(found: Row[Any], body: dict[str, Any], network: str) -> Any:
    attempts = services().password_attempts
    with attempts.of_email(found.email, network, is_known_network=found.is_known_network):
        check_password(found, body["password"])
        with services().engine.begin() as connection:
            person = lock_checked(connection, found)
            check_code(connection, person, body.get("code"))
            return accept_as(connection, person, body["token"])


def _accept_as_new(invitation: Row[Any], body: dict[str, Any]) -> Any:
    if "name" not in body:
        raise invalid([{"pointer": "/name", "code": "required", "detail": "Give the name of the new person."}])
    problem = password_problem(body["password"], invitation.email)
    if problem is not None:
        raise invalid([{"pointer": "/password", "code": "weak_password", "detail": problem}])
    password_hash = hash_password(body["password"])
    with services().engine.begin() as connection:
        person_id = create_person(connection, invitation.email, body["name"], password_hash)
        if person_id is None:  # a request at the same time has created her
            raise _not_open()
        return accept_as(connection, lock_person(connection, person_id), body["token"])


def accept_as(connection: Connection, person: Row[Any], token: str) -> Any:
    """Give the locked person what the invitation offers, and begin her session. Raises Problem invalid_link."""
    if not accept(connection, token, person.id, by=by_person(person.id)):
        raise _not_open()
    return begin(connection, lock_person(connection, person.id))


def find_open(connection: Connection, token: str) -> Row[Any]:
    """The open invitation. Raises Problem invalid_link."""
    invitation = open_invitation(connection, token)
    if invitation is None:
        raise _not_open()
    return invitation


def _not_open() -> Problem:
    return Problem("invalid_link", "The invitation is wrong, was used or revoked, or has expired.", headers=BEARER)
