"""What an invited person does with their invitation: look at it, and accept it."""

from typing import Any

from sqlalchemy import Connection, Row

from api.actor import by_person
from api.auth.tokens import BEARER
from api.endpoint import endpoint, services
from api.problems import Problem, invalid
from api.resources.invitations.schemas import Acceptance, InvitationPreviewResponse, InvitationToken
from api.resources.sign_in.checks import check_code, check_password, lock_checked, refuse_passwords_if_off
from api.resources.sign_in.responses import begin, origin
from api.resources.sign_in.schemas import SignedInResponse
from shared.db.connection import reading
from shared.people.invitations import accept, open_invitation
from shared.people.passwords import hash_password, password_problem
from shared.people.persons import create_person, lock_person, person_signing_in

WRONG = "The password is wrong. A new person gives a name, too; a person who has signed up before, their password."


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
        return find_open(connection, body["token"])


@endpoint(
    "POST",
    "/invitations/accept",
    body=Acceptance,
    response=SignedInResponse,
    errors=("invalid_link", "invalid_credentials", "code_required", "invalid_code", "passwords_off", "rate_limited"),
    scope=None,
)
def accept_invitation(body: dict[str, Any]) -> Any:
    """Accept an invitation and sign in.

    A new person gives a name and chooses a password. A person who has signed up before gives their password, and a code
    if they use TOTP. Whoever made the invitation does not learn from refusals which of the two it is for.
    """
    refuse_passwords_if_off()
    network, attempts = origin().network, services().password_attempts
    with attempts.of_address(network):
        with reading(services().engine) as connection:
            invitation = find_open(connection, body["token"])
            found = person_signing_in(connection, invitation.email, network)
        is_known_network = found is not None and found.is_known_network
        with attempts.of_email(invitation.email, network, is_known_network=is_known_network):
            if "name" in body:
                _check_new_password(body["password"], invitation.email)
                if found is None:
                    return _accept_as_new(invitation, body)
            check_password(found, body["password"], WRONG)
            assert found is not None
            return _accept_as(found, body)


def _check_new_password(password: str, email: str) -> None:
    problem = password_problem(password, email)
    if problem is not None:
        raise invalid([{"pointer": "/password", "code": "weak_password", "detail": problem}])


def _accept_as(found: Row[Any], body: dict[str, Any]) -> Any:
    with services().engine.begin() as connection:
        person = lock_checked(connection, found)
        check_code(connection, person, body.get("code"))
        return accept_as(connection, person, body["token"])


def _accept_as_new(invitation: Row[Any], body: dict[str, Any]) -> Any:
    password_hash = hash_password(body["password"])
    with services().engine.begin() as connection:
        person_id = create_person(connection, invitation.email, body["name"], password_hash)
        if person_id is None:  # a request at the same time has created them
            raise _not_open()
        return accept_as(connection, lock_person(connection, person_id), body["token"])


def accept_as(connection: Connection, person: Row[Any], token: str) -> Any:
    """Give the locked person what the invitation offers, and begin their session. Raises Problem invalid_link."""
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
