"""Links that sign a person in once, without password or code. An operator makes them and passes them on."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import Connection, bindparam, delete, exists, func, select

from shared.accounts.audit_log import record
from shared.db.tables.people import sign_in_link
from shared.people.random_secrets import LINK, hash_of, new_secret

VALID = timedelta(minutes=15)
FIRST_VALID = timedelta(hours=24)
"""Validity of the link that `make run` prints."""

USE = (
    delete(sign_in_link)
    .where(sign_in_link.c.token_hash == bindparam("token_hash"), sign_in_link.c.expires_at > func.now())
    .returning(sign_in_link.c.person_id)
)
"""Deletes the link, so that of two requests with its token only one gets a row."""
HAS = select(exists().where(sign_in_link.c.person_id == bindparam("person"), sign_in_link.c.expires_at > func.now()))


def has_link(connection: Connection, person_id: UUID) -> bool:
    """Whether the person has a link that works, which a new one would replace."""
    return bool(connection.execute(HAS, {"person": person_id}).scalar())


def make_link(connection: Connection, person_id: UUID, valid: timedelta = VALID) -> str:
    """Make a link for a person, which replaces an earlier one. Returns its token, which is shown only once."""
    token = new_secret(LINK)
    connection.execute(delete(sign_in_link).where(sign_in_link.c.person_id == person_id))
    connection.execute(
        sign_in_link.insert().values(token_hash=hash_of(token), person_id=person_id, expires_at=func.now() + valid)
    )
    record(connection, None, "person.link_made", subject=person_id)
    return token


def use_link(connection: Connection, token: str) -> UUID | None:
    """The person whom the link signs in, once; None if it is unknown, used or expired."""
    return connection.execute(USE, {"token_hash": hash_of(token)}).scalar()
