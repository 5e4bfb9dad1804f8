"""Release the e-mail address of a disabled person at once, so that somebody else can be invited with it."""

from uuid import UUID

from sqlalchemy import BindParameter, Connection, bindparam, update

from shared.accounts.audit_log import record
from shared.db.tables.people import membership, person, person_identity, recovery_code
from shared.people.memberships import END_MEMBERSHIPS
from shared.people.persons import disable_person, end_invitations
from shared.people.second_factor import WITHOUT_TOTP

ERASED_PERSON = {"email": None, "name": "", "password_hash": None, "operator_role": None, **WITHOUT_TOTP}
"""The columns of a person who is erased. The id stays, which the audit log names."""

OF_PERSON: BindParameter[UUID] = bindparam("of_person")
RELEASE = (
    END_MEMBERSHIPS.where(membership.c.person_id == OF_PERSON),
    recovery_code.delete().where(recovery_code.c.person_id == OF_PERSON),
    person_identity.delete().where(person_identity.c.person_id == OF_PERSON),
    update(person).where(person.c.id == OF_PERSON).values(ERASED_PERSON),
)


def release_email(connection: Connection, email: str) -> None:
    """Disable the person with the e-mail address, erase them, and end their memberships and invitations.

    Raises Refused if there is no such person.
    """
    person_id = disable_person(connection, email)
    end_invitations(connection, person_id)
    for statement in RELEASE:
        connection.execute(statement, {"of_person": person_id})
    record(connection, None, "person.email_released", subject=person_id)
