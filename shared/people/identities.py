"""Who people are at an OpenID Connect provider: an issuer, and a subject that never changes there.

The first sign-in through the provider finds a person by their e-mail address, and binds the identity to them. From then
on only the identity counts: who has another e-mail address at the provider stays the same person, and someone else who
is given the old address is refused.

Whoever was invited by an e-mail address may not be the one whom it belongs to: nothing was ever sent there. The
provider has verified it. So binding an identity ends every way to sign in as this person that was there before.
"""

from uuid import UUID

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.audit_log import Actor, record
from shared.db.tables.people import person, person_identity, sign_in_link
from shared.people.second_factor import forget_second_factor
from shared.people.sessions import end_sessions

HOLDER = select(person_identity.c.person_id).where(
    person_identity.c.issuer == bindparam("issuer"), person_identity.c.subject == bindparam("subject")
)
BIND = (
    insert(person_identity)
    .values(issuer=bindparam("issuer"), subject=bindparam("subject"), person_id=bindparam("person"))
    .on_conflict_do_nothing()
    .returning(person_identity.c.person_id)
)
"""Binds an identity. No row if it is another person's, or if they have another one of this issuer."""


def holder_of_identity(connection: Connection, issuer: str, subject: str) -> UUID | None:
    """The person whose identity this is; None if it was never used."""
    return connection.execute(HOLDER, {"issuer": issuer, "subject": subject}).scalar()


def bind_identity(connection: Connection, person_id: UUID, issuer: str, subject: str, *, by: Actor) -> bool:
    """Bind an identity to a person, and end their password, second factor, links and sessions.

    Returns False if either has another one already.
    """
    values = {"issuer": issuer, "subject": subject, "person": person_id}
    if connection.execute(BIND, values).one_or_none() is None:
        return False
    connection.execute(update(person).where(person.c.id == person_id).values(password_hash=None))
    forget_second_factor(connection, person_id)
    connection.execute(delete(sign_in_link).where(sign_in_link.c.person_id == person_id))
    end_sessions(connection, person_id)
    record(connection, by, "person.identity_bound", subject=person_id, after={"issuer": issuer})
    return True


def unbind_identities(connection: Connection, person_id: UUID) -> int:
    """Unbind all identities of a person, so that their next sign-in through the provider binds one again."""
    unbound = connection.execute(delete(person_identity).where(person_identity.c.person_id == person_id)).rowcount
    if unbound:
        record(connection, None, "person.identity_unbound", subject=person_id)
    return unbound
