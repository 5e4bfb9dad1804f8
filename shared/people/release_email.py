"""Release the e-mail address of a disabled person at once, so that somebody else can be invited with it."""

from uuid import UUID

from sqlalchemy import BindParameter, Connection, bindparam, func, update

from shared.accounts.audit_log import Actor, record
from shared.db.tables.people import invitation, membership, person, person_identity, recovery_code
from shared.people.persons import actor_of, disable_person

__all__ = ["ERASED", "release_email"]

ERASED = {
    "email": None,
    "name": "",
    "password_hash": None,
    "operator_role": None,
    "totp_secret": None,
    "totp_pending": None,
}
"""The columns of a person who is erased. The id stays, which the audit log names."""

OF_PERSON: BindParameter[UUID] = bindparam("of_person")
RELEASE = (
    update(membership)
    .where(membership.c.person_id == OF_PERSON, membership.c.ended_at.is_(None))
    .values(ended_at=func.now(), changed_at=func.now(), version=membership.c.version + 1),
    update(invitation)
    .where(invitation.c.invited_by == bindparam("who"), invitation.c.ended_at.is_(None))
    .values(ended_at=func.now()),
    recovery_code.delete().where(recovery_code.c.person_id == OF_PERSON),
    person_identity.delete().where(person_identity.c.person_id == OF_PERSON),
    update(person).where(person.c.id == OF_PERSON).values(ERASED),
)


def release_email(connection: Connection, email: str, *, by: Actor | None = None) -> None:
    """Disable the person with the e-mail address, erase them, and end their memberships and invitations.

    Raises Refused if there is no such person.
    """
    person_id = disable_person(connection, email, by=by)
    for statement in RELEASE:
        connection.execute(statement, {"of_person": person_id, "who": actor_of(person_id)})
    record(connection, by, "person.email_released", subject=person_id)
