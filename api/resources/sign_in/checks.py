"""The checks of a sign-in: passwords, and codes of the second factor."""

from typing import Any

from sqlalchemy import Connection, Row

from api.auth.tokens import BEARER
from api.endpoint import services
from api.problems import Problem
from shared.people.passwords import verify
from shared.people.persons import lock_person
from shared.people.second_factor import use_code

WRONG = "The e-mail address or password is wrong."


def refuse_passwords_if_off() -> None:
    """Raise Problem passwords_off if people sign in only through the OpenID Connect provider."""
    oidc = services().settings.oidc
    if oidc is not None and oidc.only:
        raise Problem("passwords_off", f"Passwords are switched off here. Sign in with {oidc.name}.")


def check_password(person: Row[Any] | None, password: str, wrong: str = WRONG) -> None:
    """Raise Problem invalid_credentials unless it is the password of this active person. Takes as long without one."""
    is_right = verify(person.password_hash if person is not None else None, password)
    if person is None or not is_right or person.state != "active":
        raise wrong_credentials(wrong)


def wrong_credentials(detail: str = WRONG) -> Problem:
    """The 401 for a wrong e-mail address or password, without saying which."""
    return Problem("invalid_credentials", detail, headers=BEARER)


def lock_checked(connection: Connection, checked: Row[Any]) -> Row[Any]:
    """Lock a person whose password was checked. Raises Problem invalid_credentials if it was changed meanwhile."""
    person = lock_person(connection, checked.id)
    if person.state != "active" or person.password_hash != checked.password_hash:
        raise wrong_credentials()
    return person


def check_code(connection: Connection, person: Row[Any], code: str | None) -> None:
    """Use up the code of a locked person. Raises Problem code_required or invalid_code if they use TOTP."""
    if person.totp_secret is None:
        return
    if code is None:
        raise Problem("code_required", "The password is right; this person also needs a code.", headers=BEARER)
    if not use_code(connection, person, services().totp_texts, code):
        raise Problem("invalid_code", "The code is wrong, or was used before.", headers=BEARER)
