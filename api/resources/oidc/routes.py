"""Sign in through an OpenID Connect provider, and accept an invitation with it."""

import logging
from typing import Any

from sqlalchemy import Connection, Row

from api.actor import by_person
from api.auth.tokens import BEARER
from api.endpoint import endpoint, services
from api.problems import Problem
from api.resources.invitations.acceptance import accept_as, find_open
from api.resources.oidc.schemas import OidcBegunResponse, OidcReturned
from api.resources.sign_in.responses import begin, origin
from api.resources.sign_in.schemas import SignedInResponse
from shared.oidc.http import ProviderUnavailable
from shared.oidc.id_token import WrongIdToken
from shared.oidc.provider import CodeRefused, Identity, Provider
from shared.people.identities import bind_identity, holder_of_identity
from shared.people.persons import create_person, lock_person, person_by_email

log = logging.getLogger(__name__)


@endpoint(
    "POST",
    "/sign-in/oidc",
    response=OidcBegunResponse,
    errors=("not_found", "oidc_unavailable"),
    scope=None,
)
def begin_oidc() -> Any:
    """Begin to sign in through the OpenID Connect provider, if the operator has set one.

    The provider sends the browser back to `/sign-in/oidc/callback` of the console.
    """
    attempt, sealed, expires_at = services().oidc_attempts.begin()
    provider = _provider()
    try:
        url = provider.authorization_url(*attempt)
    except ProviderUnavailable as reason:
        raise _unavailable(provider, reason) from None
    return {"authorization_url": url, "attempt": sealed, "expires_at": expires_at}


@endpoint(
    "POST",
    "/sign-in/oidc/complete",
    body=OidcReturned,
    response=SignedInResponse,
    errors=(
        *("not_found", "oidc_unavailable", "oidc_failed", "no_person", "email_not_verified", "identity_conflict"),
        *("invalid_link", "invitation_for_another", "rate_limited"),
    ),
    scope=None,
)
def complete_oidc(body: dict[str, Any]) -> Any:
    """Sign in with what the provider's response has brought, and accept an invitation with it.

    The first time, a person is found by their e-mail address, which the provider must have verified; their
    password and second factor from before end. From then on the provider's subject counts, not the address. Only an
    invitation makes a new person. The second factor is up to the provider: no code is asked for.
    """
    provider = _provider()
    with services().password_attempts.of_address(origin().network):
        identity = _identity(provider, body)
        with services().engine.begin() as connection:
            if "invitation_token" in body:
                return _accept(connection, identity, body["invitation_token"])
            person = _person(connection, identity)
            if person is None:
                raise Problem("no_person", "No person has this e-mail address.")
            return begin(connection, person)


def _provider() -> Provider:
    provider = services().oidc
    if provider is None:
        raise Problem("not_found", "This installation has no OpenID Connect provider.")
    return provider


def _identity(provider: Provider, body: dict[str, Any]) -> Identity:
    attempt = services().oidc_attempts.read(body["attempt"], body["state"])
    if attempt is None:
        raise _failed("The response does not belong to this attempt, or the attempt has expired.")
    try:
        return provider.identity(body["code"], attempt.nonce, attempt.verifier)
    except CodeRefused:
        raise _failed("The provider does not accept the code: it was used before, or is too old.") from None
    except WrongIdToken as reason:
        log.warning("The provider's ID token was refused: %s", reason)
        raise _failed("The provider's ID token is not valid here.") from None
    except ProviderUnavailable as reason:
        raise _unavailable(provider, reason) from None


def _person(connection: Connection, identity: Identity) -> Row[Any] | None:
    """The active person of the identity, locked; None if there is nobody. Their first sign-in binds the identity."""
    person_id = holder_of_identity(connection, identity.issuer, identity.subject)
    if person_id is not None:
        return _active(lock_person(connection, person_id))
    if identity.email is None:
        raise Problem("email_not_verified", "The provider does not say that it has verified the e-mail address.")
    found = person_by_email(connection, identity.email)
    if found is None:
        return None
    person = _active(lock_person(connection, found.id))
    _bind(connection, person, identity)
    return person


def _active(person: Row[Any]) -> Row[Any]:
    if person.state != "active":
        raise Problem("no_person", "This person is disabled.")
    return person


def _bind(connection: Connection, person: Row[Any], identity: Identity) -> None:
    issuer, subject = identity.issuer, identity.subject
    is_bound = bind_identity(connection, person.id, issuer, subject, by=by_person(person.id))
    # unless a concurrent request has just bound the same identity
    if not is_bound and holder_of_identity(connection, issuer, subject) != person.id:
        detail = "The person with this e-mail address signs in with another identity of the provider."
        raise Problem("identity_conflict", detail)


def _accept(connection: Connection, identity: Identity, token: str) -> Any:
    invitation = find_open(connection, token)
    person = _person(connection, identity)
    if (identity.email if person is None else person.email) != invitation.email:
        raise Problem("invitation_for_another", "The invitation is for another e-mail address.")
    if person is None:
        person_id = create_person(connection, invitation.email, identity.name)
        if person_id is None:  # a request at the same time has created them
            raise Problem("no_person", "A person with this e-mail address has just been added. Try again.")
        person = lock_person(connection, person_id)
        _bind(connection, person, identity)
    return accept_as(connection, person, token)


def _failed(detail: str) -> Problem:
    return Problem("oidc_failed", detail, headers=BEARER)


def _unavailable(provider: Provider, reason: ProviderUnavailable) -> Problem:
    log.warning("The OpenID Connect provider %s cannot be used: %s", provider.settings.issuer, reason)
    detail = f"{provider.settings.name} does not answer as it should. `bulksms doctor` says why."
    return Problem("oidc_unavailable", detail, headers={"Retry-After": "5"})
