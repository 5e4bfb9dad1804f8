"""The responses that describe the person who is signed in, and a new session."""

from typing import Any

from sqlalchemy import Connection, Row

from api.auth.tokens import BEARER
from api.endpoint import client_address, services
from api.http.client_ip import shared_by_one
from api.http.request import current_request
from api.problems import Problem
from api.resources.sign_in.schemas import MeResponse, SignedInResponse
from shared.people.memberships import accounts_of
from shared.people.passwords import verify
from shared.people.persons import find_person, lock_person
from shared.people.second_factor import use_code
from shared.people.sessions import Origin, begin_session

ME, SIGNED_IN = MeResponse(), SignedInResponse()
WRONG = "The e-mail address or password is wrong."


def origin() -> Origin:
    """Where the current request comes from."""
    address = client_address()
    return Origin(address, shared_by_one(address), current_request().http.headers.get("User-Agent", ""))


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


def begin(connection: Connection, person: Row[Any], *, by_link: bool = False) -> Any:
    """Begin a session of the person. Returns the response with its token."""
    session = begin_session(connection, person.id, origin(), by_link=by_link)
    named = {"session_token": session.token, "session_id": session.id, "expires_at": session.expires_at}
    return SIGNED_IN.dump(_described(connection, person) | named)


def me(connection: Connection, person_id: Any, session_id: Any, expires_at: Any) -> Any:
    """The response that describes the person and their session."""
    person = find_person(connection, person_id)
    assert person is not None
    return ME.dump(_described(connection, person) | {"session_id": session_id, "expires_at": expires_at})


def _described(connection: Connection, person: Row[Any]) -> dict[str, Any]:
    accounts = [
        {"account_id": row.id, "name": row.name, "role": row.role, "status": row.state}
        for row in accounts_of(connection, person.id)
    ]
    described = {
        **person._mapping,
        "person_id": person.id,
        "totp": person.totp_secret is not None,
        "has_password": person.password_hash is not None,
    }
    return {"person": described, "accounts": accounts}
