"""Sessions of people: begun by signing in, found by their secret token, listed, and ended.

A session ends 12 hours after its last use, 30 days after it began, when it is ended, when the person changes their
password in another one, or when they are disabled. Ended sessions are kept for a while: their addresses show where a
person has signed in before, and their tokens must be refused.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, Update, bindparam, func, select, update

from shared.accounts.api_keys import USED_RESOLUTION
from shared.accounts.operator_keys import revoke_operator_tokens
from shared.db.tables.people import person, person_session
from shared.ids import new_id
from shared.people.random_secrets import SESSION, hash_of, new_secret

IDLE = timedelta(hours=12)
MAX_AGE = timedelta(days=30)
MAX_SESSIONS = 50
"""Sessions of one person. A further one ends the oldest."""
MAX_USER_AGENT_LENGTH = 200

IS_LIVE = (
    person_session.c.ended_at.is_(None)
    & (person_session.c.expires_at > func.now())
    & (person_session.c.last_used_at > func.now() - IDLE)
)
FIND = (
    select(person_session, (person_session.c.last_used_at < func.now() - USED_RESOLUTION).label("use_is_old"))
    .join(person, person.c.id == person_session.c.person_id)
    .where(person_session.c.token_hash == bindparam("token_hash"), IS_LIVE, person.c.state == "active")
)
USED = update(person_session).where(person_session.c.id == bindparam("session")).values(last_used_at=func.now())
LOCK = (
    select(person_session.c.id)
    .join(person, person.c.id == person_session.c.person_id)
    .where(person_session.c.id == bindparam("session"), IS_LIVE, person.c.state == "active")
    .with_for_update(read=True, of=person_session)
)
LIST = (
    select(person_session)
    .where(person_session.c.person_id == bindparam("person"), IS_LIVE)
    .order_by(person_session.c.id.desc())
)
END = (
    update(person_session)
    .where(person_session.c.person_id == bindparam("person"), person_session.c.id == bindparam("session"), IS_LIVE)
    .values(ended_at=func.now())
    .returning(person_session.c.id)
)
END_ALL = (
    update(person_session)
    .where(person_session.c.person_id == bindparam("person"), person_session.c.ended_at.is_(None))
    .values(ended_at=func.now())
    .returning(person_session.c.id)
)
END_OTHERS = END_ALL.where(person_session.c.id != bindparam("keep"))
END_OLDEST = (
    update(person_session)
    .where(
        person_session.c.id.in_(
            select(person_session.c.id)
            .where(person_session.c.person_id == bindparam("person"), IS_LIVE)
            .order_by(person_session.c.id.desc())
            .offset(MAX_SESSIONS)
        )
    )
    .values(ended_at=func.now())
    .returning(person_session.c.id)
)


class Origin(NamedTuple):
    """Where a session comes from: the client's address, the block of addresses that it belongs to, and the client."""

    address: str
    network: str
    user_agent: str


class Session(NamedTuple):
    """A new session, with the token that is shown only once."""

    id: UUID
    token: str
    expires_at: datetime


def begin_session(connection: Connection, person_id: UUID, origin: Origin, *, by_link: bool = False) -> Session:
    """Begin a session, and note when the person signed in."""
    token, session_id = new_secret(SESSION), new_id()
    expires_at: datetime = connection.execute(
        person_session.insert()
        .values(
            id=session_id,
            person_id=person_id,
            token_hash=hash_of(token),
            expires_at=func.now() + MAX_AGE,
            by_link=by_link,
            address=origin.address,
            network=origin.network,
            user_agent=origin.user_agent[:MAX_USER_AGENT_LENGTH],
        )
        .returning(person_session.c.expires_at)
    ).scalar_one()
    _end(connection, END_OLDEST, {"person": person_id})
    connection.execute(update(person).where(person.c.id == person_id).values(last_sign_in_at=func.now()))
    return Session(session_id, token, expires_at)


def holder_of(session_id: UUID) -> str:
    """The session as a holder of operator tokens, which end with it."""
    return f"session {session_id}"


def find_session(connection: Connection, token: str) -> Row[Any] | None:
    """The live session of an active person that has this token, as its row. Notes its use, to the minute."""
    row = connection.execute(FIND, {"token_hash": hash_of(token)}).one_or_none()
    if row is not None and row.use_is_old:
        connection.execute(USED, {"session": row.id})
    return row


def lock_session(connection: Connection, session_id: UUID) -> bool:
    """Whether the session is live. If so, it cannot be ended until the transaction ends."""
    return connection.execute(LOCK, {"session": session_id}).one_or_none() is not None


def list_sessions(connection: Connection, person_id: UUID) -> Sequence[Row[Any]]:
    """The person's live sessions, newest first."""
    return connection.execute(LIST, {"person": person_id}).all()


def end_session(connection: Connection, person_id: UUID, session_id: UUID) -> bool:
    """End a session of the person. Returns False if they have no such live session."""
    return bool(_end(connection, END, {"person": person_id, "session": session_id}))


def end_sessions(connection: Connection, person_id: UUID, *, keep: UUID | None = None) -> None:
    """End all sessions of a person but `keep`."""
    if keep is None:
        _end(connection, END_ALL, {"person": person_id})
    else:
        _end(connection, END_OTHERS, {"person": person_id, "keep": keep})


def _end(connection: Connection, statement: Update, values: dict[str, UUID]) -> list[UUID]:
    """End sessions, whose tokens are then refused within seconds. Returns their ids."""
    ended = list(connection.execute(statement, values).scalars())
    for session_id in ended:
        revoke_operator_tokens(connection, holder_of(session_id))
    return ended
