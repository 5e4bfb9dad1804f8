"""How long data of people is kept: what deletes the rest, and what erases somebody at once."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import BindParameter, Connection, bindparam, delete, func, or_, select, update

from shared.accounts.audit_log import record
from shared.db.tables.people import (
    invitation,
    membership,
    person,
    person_identity,
    person_session,
    recovery_code,
    sign_in_link,
)
from shared.people.memberships import END_MEMBERSHIPS
from shared.people.persons import END_INVITATIONS_TO, disable_person, end_invitations
from shared.people.second_factor import WITHOUT_TOTP

KEPT = timedelta(days=30)
"""After the end of a session or an invitation, and after a person was disabled."""

ERASED_PERSON = {"email": None, "name": "", "password_hash": None, "operator_role": None, **WITHOUT_TOTP}
"""The columns of a person who is erased. The id stays, which the audit log names."""
IS_LONG_DISABLED = person.c.disabled_at < func.now() - KEPT
IS_UNERASED = or_(*(person.c[name].is_distinct_from(value) for name, value in ERASED_PERSON.items()))
LONG_DISABLED = select(person.c.id).where(IS_LONG_DISABLED)

OLD_OF_PEOPLE = (
    delete(sign_in_link).where(sign_in_link.c.expires_at < func.now()),
    delete(invitation).where(func.coalesce(invitation.c.ended_at, invitation.c.expires_at) < func.now() - KEPT),
    delete(person_session).where(
        func.coalesce(person_session.c.ended_at, person_session.c.expires_at) < func.now() - KEPT
    ),
    delete(person_session).where(person_session.c.person_id.in_(LONG_DISABLED)),
    delete(recovery_code).where(recovery_code.c.person_id.in_(LONG_DISABLED)),
    delete(person_identity).where(person_identity.c.person_id.in_(LONG_DISABLED)),
    END_MEMBERSHIPS.where(membership.c.person_id.in_(LONG_DISABLED)),
    update(person).where(IS_LONG_DISABLED, IS_UNERASED).values(ERASED_PERSON),
)
"""The last five erase whoever has been disabled for that long. The id stays, which the audit log names."""

OF_PERSON: BindParameter[UUID] = bindparam("of_person")
RELEASE = (
    END_INVITATIONS_TO,
    END_MEMBERSHIPS.where(membership.c.person_id == OF_PERSON),
    recovery_code.delete().where(recovery_code.c.person_id == OF_PERSON),
    person_identity.delete().where(person_identity.c.person_id == OF_PERSON),
    update(person).where(person.c.id == OF_PERSON).values(ERASED_PERSON),
)


def release_email(connection: Connection, email: str) -> None:
    """Disable the person with the e-mail address, erase them, and end their memberships and invitations by and to them.

    Raises Refused if there is no such person.
    """
    person_id = disable_person(connection, email)
    end_invitations(connection, person_id)
    for statement in RELEASE:
        connection.execute(statement, {"of_person": person_id})
    record(connection, None, "person.email_released", subject=person_id)
