"""The password and the second factor of the person who is signed in."""

from datetime import timedelta
from typing import Any

from sqlalchemy import DateTime, Row, bindparam, func, select

from api.actor import by_person
from api.auth.person_sessions import SignedIn
from api.auth.tokens import BEARER
from api.endpoint import endpoint, services
from api.problems import Problem, invalid
from api.resources.me.schemas import (
    ChangePassword,
    ConfirmTotp,
    OwnPassword,
    PasswordChangedResponse,
    RecoveryCodesResponse,
    TotpDisabledResponse,
    TotpResponse,
)
from api.resources.sign_in.checks import check_password, lock_checked, refuse_passwords_if_off, wrong_credentials
from api.resources.sign_in.responses import origin
from shared.db.connection import reading
from shared.people.passwords import hash_password, password_problem
from shared.people.persons import change_password, find_person, lock_person, person_signing_in
from shared.people.second_factor import begin_totp, confirm_totp, disable_totp, uri_of

FRESH = timedelta(minutes=15)
"""For how long after signing in a person may set a password without the present one: by a link, or if there is none."""
IS_FRESH = select(bindparam("began_at", type_=DateTime(timezone=True)).between(func.now() - FRESH, func.now()))
"""By the clock of the database, which said when the session began."""


@endpoint(
    "POST",
    "/me/password",
    body=ChangePassword,
    response=PasswordChangedResponse,
    errors=("invalid_credentials", "passwords_off", "sign_in_too_old", "rate_limited"),
    scope=None,
    session=True,
)
def change_my_password(signed_in: SignedIn, body: dict[str, Any]) -> Any:
    """Change the password. All other sessions of the person end, and their tokens within five seconds.

    A person without a password sets one within 15 minutes of signing in.
    """
    refuse_passwords_if_off()
    checked = _person(signed_in)
    problem = password_problem(body["new_password"], checked.email)
    if problem is not None:
        raise invalid([{"pointer": "/new_password", "code": "weak_password", "detail": problem}])
    if "password" in body:
        _check_own_password(checked, body["password"])
    elif checked.password_hash is None:
        if not _is_fresh(signed_in):
            raise Problem("sign_in_too_old", "Set a first password within 15 minutes of signing in.")
    elif not (signed_in.by_link and _is_fresh(signed_in)):
        raise invalid([{"pointer": "/password", "code": "required", "detail": "Provide the current password as well."}])
    new_hash = hash_password(body["new_password"])
    with services().engine.begin() as connection:
        lock_checked(connection, checked)
        by = by_person(signed_in.person_id)
        change_password(connection, signed_in.person_id, new_hash, session=signed_in.session_id, by=by)
    services().tokens.reload()
    return {"changed": True}


@endpoint(
    "POST",
    "/me/totp",
    body=OwnPassword,
    response=TotpResponse,
    errors=("state_conflict", "invalid_credentials", "rate_limited"),
    scope=None,
    session=True,
)
def begin_my_totp(signed_in: SignedIn, body: dict[str, Any]) -> Any:
    """Get a secret for an authenticator app. TOTP is on as soon as a code confirms it.

    A person without a password sets one first, with POST /api/v1/me/password.
    """
    checked = _person(signed_in)
    if checked.password_hash is None:
        raise Problem("state_conflict", "Set a password first, with POST /api/v1/me/password.")
    _check_own_password(checked, body["password"])
    with services().engine.begin() as connection:
        person = lock_checked(connection, checked)
        if person.totp_secret is not None:
            raise Problem("state_conflict", "TOTP is already on; disable it first.")
        secret = begin_totp(connection, person.id, services().totp_texts)
    return {"secret": secret, "uri": uri_of(secret, person.email)}


@endpoint(
    "POST",
    "/me/totp/confirm",
    body=ConfirmTotp,
    response=RecoveryCodesResponse,
    errors=("state_conflict", "invalid_code"),
    scope=None,
    session=True,
)
def confirm_my_totp(signed_in: SignedIn, body: dict[str, Any]) -> Any:
    """Switch TOTP on with a code of the app. The response has the recovery codes, which are shown only once."""
    by = by_person(signed_in.person_id)
    with services().engine.begin() as connection:
        person = lock_person(connection, signed_in.person_id)
        if person.totp_pending is None:
            raise Problem("state_conflict", "Get a secret with POST /api/v1/me/totp first.")
        codes = confirm_totp(connection, person, services().totp_texts, body["code"].strip(), by=by)
        if codes is None:
            raise Problem(
                "invalid_code", "The code is wrong. Check the clock of the device with the app.", headers=BEARER
            )
    return {"recovery_codes": codes}


@endpoint(
    "POST",
    "/me/totp/disable",
    body=OwnPassword,
    response=TotpDisabledResponse,
    errors=("invalid_credentials", "rate_limited"),
    scope=None,
    session=True,
)
def disable_my_totp(signed_in: SignedIn, body: dict[str, Any]) -> Any:
    """Switch TOTP off and forget the recovery codes."""
    checked = _person(signed_in)
    _check_own_password(checked, body["password"])
    with services().engine.begin() as connection:
        person = lock_checked(connection, checked)
        if person.totp_secret is not None:
            disable_totp(connection, person.id, by=by_person(person.id))
    return {"totp": False}


def _person(signed_in: SignedIn) -> Row[Any]:
    with reading(services().engine) as connection:
        person = find_person(connection, signed_in.person_id)
    assert person is not None
    return person


def _check_own_password(person: Row[Any], password: str) -> None:
    """Check the password of the person who is signed in; failures count as those of sign-ins do."""
    network, attempts = origin().network, services().password_attempts
    with reading(services().engine) as connection:
        found = person_signing_in(connection, person.email, network)
    if found is None:
        raise wrong_credentials()
    with (
        attempts.of_address(network),
        attempts.of_email(person.email, network, is_known_network=found.is_known_network),
    ):
        check_password(person, password)


def _is_fresh(signed_in: SignedIn) -> bool:
    with reading(services().engine) as connection:
        return bool(connection.execute(IS_FRESH, {"began_at": signed_in.began_at}).scalar_one())
