"""The responses that describe the person who is signed in, and a new session."""

from typing import Any

from sqlalchemy import Connection, Row

from api.endpoint import client_address
from api.http.request import current_request
from shared.address_block import address_block
from shared.people.memberships import accounts_of
from shared.people.persons import find_person
from shared.people.sessions import Origin, begin_session


def origin() -> Origin:
    """Where the current request comes from."""
    address = client_address()
    return Origin(address, address_block(address), current_request().http.headers.get("User-Agent", ""))


def begin(connection: Connection, person: Row[Any], *, by_link: bool = False) -> Any:
    """Begin a session of the person. Returns the response with its token."""
    session = begin_session(connection, person.id, origin(), by_link=by_link)
    named = {"session_token": session.token, "session_id": session.id, "expires_at": session.expires_at}
    return _described(connection, person) | named


def me(connection: Connection, person_id: Any, session_id: Any, expires_at: Any) -> Any:
    """The response that describes the person and their session."""
    person = find_person(connection, person_id)
    assert person is not None
    return _described(connection, person) | {"session_id": session_id, "expires_at": expires_at}


def _described(connection: Connection, person: Row[Any]) -> dict[str, Any]:
    accounts = [
        {"account_id": row.id, "name": row.name, "role": row.role, "status": row.state, "country": row.country}
        for row in accounts_of(connection, person.id)
    ]
    described = {
        **person._mapping,
        "person_id": person.id,
        "totp": person.totp_secret is not None,
        "has_password": person.password_hash is not None,
    }
    return {"person": described, "accounts": accounts}
