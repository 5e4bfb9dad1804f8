"""How long data of people is kept: statements that delete what is no longer needed."""

from datetime import timedelta

from sqlalchemy import delete, func, or_, select, update

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
from shared.people.release_email import ERASED_PERSON

KEPT = timedelta(days=30)
"""After the end of a session or an invitation, and after a person was disabled."""

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
