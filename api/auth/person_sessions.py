"""Authenticates the requests of people by the token of their session."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Engine

from api.auth.tokens import bearer_error, need_token
from api.problems import Problem
from shared.db.connection import reading
from shared.people.sessions import find_session


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The person and session behind a request."""

    person_id: UUID
    session_id: UUID
    began_at: datetime
    expires_at: datetime
    by_link: bool
    """Whether the session was begun by a link, without the password."""


def read_session(engine: Engine, header: str | None) -> SignedIn:
    """Authenticate an Authorization header. Raises Problem missing_token or session_ended."""
    token = need_token(header)
    with reading(engine) as connection:
        row = find_session(connection, token)
    if row is None:
        detail = "The session does not exist or has ended."
        raise Problem("session_ended", detail, headers=bearer_error("invalid_token"))
    return SignedIn(row.person_id, row.id, row.created_at, row.expires_at, row.by_link)
