"""Sign in as a person: by e-mail address and password, or once by a link."""

from typing import Any

from api.auth.tokens import BEARER
from api.endpoint import endpoint, services
from api.problems import Problem
from api.resources.sign_in.checks import check_code, check_password, lock_checked, refuse_passwords_if_off
from api.resources.sign_in.responses import begin, origin
from api.resources.sign_in.schemas import EmailAndPassword, LinkToken, SignedInResponse, SignInMethodsResponse
from shared.db.connection import reading
from shared.people.passwords import hash_password, is_outdated
from shared.people.persons import lock_person, normalized_email, person_signing_in, set_password_hash
from shared.people.sign_in_links import use_link


@endpoint("GET", "/sign-in/methods", response=SignInMethodsResponse, scope=None)
def list_sign_in_methods() -> Any:
    """How people can sign in here."""
    oidc = services().settings.oidc
    is_password_on = oidc is None or not oidc.only
    return {"password": is_password_on, "oidc": {"name": oidc.name} if oidc else None}


@endpoint(
    "POST",
    "/sign-in",
    body=EmailAndPassword,
    response=SignedInResponse,
    errors=("invalid_credentials", "code_required", "invalid_code", "passwords_off", "rate_limited"),
    scope=None,
)
def sign_in(body: dict[str, Any]) -> Any:
    """Sign in by e-mail address and password.

    With TOTP, the first request gets `code_required`: repeat it with `code`. Failures are limited by address and by
    e-mail address. The response is the same, and takes as long, if there is no such person.
    """
    refuse_passwords_if_off()
    email, network = normalized_email(body["email"]) or "", origin().network
    attempts, engine = services().password_attempts, services().engine
    with attempts.of_address(network):
        with reading(engine) as connection:
            found = person_signing_in(connection, email, network)
        is_known_network = found is not None and found.is_known_network
        with attempts.of_email(email, network, is_known_network=is_known_network):
            check_password(found, body["password"])
            assert found is not None
            again = hash_password(body["password"]) if is_outdated(found.password_hash) else None
            with engine.begin() as connection:
                person = lock_checked(connection, found)
                check_code(connection, person, body.get("code"))
                if again is not None:
                    set_password_hash(connection, person.id, again)
                return begin(connection, person)


@endpoint(
    "POST",
    "/sign-in/link",
    body=LinkToken,
    response=SignedInResponse,
    errors=("invalid_link", "rate_limited"),
    scope=None,
)
def sign_in_by_link(body: dict[str, Any]) -> Any:
    """Sign in by a link of `bulksms person link`, which works once, without password or code."""
    with services().password_attempts.of_address(origin().network), services().engine.begin() as connection:
        person_id = use_link(connection, body["token"])
        person = lock_person(connection, person_id) if person_id is not None else None
        if person is None or person.state != "active":
            raise Problem("invalid_link", "The link is wrong, was used before, or has expired.", headers=BEARER)
        return begin(connection, person, by_link=True)
