"""The person who is signed in: show and change them, list and end their sessions."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, update

from api.actor import by_person
from api.auth.person_sessions import SignedIn
from api.endpoint import endpoint, services
from api.problems import Problem
from api.resources.me.schemas import ChangeMe, SessionEndedResponse, SessionResponse
from api.resources.sign_in.responses import me
from api.resources.sign_in.schemas import MeResponse
from api.schemas.paging import page_of
from shared.accounts.audit_log import record
from shared.db.tables.people import person
from shared.people.persons import lock_person
from shared.people.sessions import end_session, list_sessions


@endpoint("GET", "/me", response=MeResponse, scope=None, session=True)
def get_me(signed_in: SignedIn, connection: Connection) -> Any:
    """Show the person who is signed in, with their accounts and roles."""
    return me(connection, signed_in.person_id, signed_in.session_id, signed_in.expires_at)


@endpoint("PATCH", "/me", body=ChangeMe, response=MeResponse, scope=None, session=True)
def update_me(signed_in: SignedIn, connection: Connection, body: dict[str, Any]) -> Any:
    """Change the name, language or time zone of the person who is signed in."""
    before = lock_person(connection, signed_in.person_id)
    changes = {name: value for name, value in body.items() if getattr(before, name) != value}
    if changes:
        connection.execute(update(person).where(person.c.id == signed_in.person_id).values(changes))
        by = by_person(signed_in.person_id)
        record(connection, by, "person.changed", subject=signed_in.person_id, after={"fields": sorted(changes)})
    return me(connection, signed_in.person_id, signed_in.session_id, signed_in.expires_at)


@endpoint("GET", "/me/sessions", response=page_of(SessionResponse), scope=None, session=True)
def list_my_sessions(signed_in: SignedIn, connection: Connection) -> Any:
    """List the sessions of the person who is signed in, newest first."""
    rows = list_sessions(connection, signed_in.person_id)
    data = [{**row._mapping, "current": row.id == signed_in.session_id} for row in rows]
    return {"data": data, "next_cursor": None}


@endpoint("DELETE", "/me/sessions/<uuid:session_id>", response=SessionEndedResponse, scope=None, session=True)
def end_my_session(signed_in: SignedIn, session_id: UUID) -> Any:
    """End a session of the person who is signed in. Its tokens stop working within five seconds."""
    return _end(signed_in.person_id, session_id)


@endpoint(
    "POST", "/me/sign-out", response=SessionEndedResponse, errors=("session_not_found",), scope=None, session=True
)
def sign_out(signed_in: SignedIn) -> Any:
    """End the session in use. Its tokens stop working within five seconds."""
    return _end(signed_in.person_id, signed_in.session_id)


def _end(person_id: UUID, session_id: UUID) -> Any:
    with services().engine.begin() as connection:
        if not end_session(connection, person_id, session_id):
            raise Problem("session_not_found", "You have no such session, or it has ended.")
    services().tokens.reload()
    return {"session_id": session_id, "ended": True}
