"""People: find, create, change, disable and enable them."""

import re
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.administration import Refused
from shared.accounts.audit_log import Actor, record
from shared.db.tables.people import invitation, person, person_session, sign_in_link
from shared.ids import new_id
from shared.people.sessions import end_sessions

MAX_PERSON_NAME_LENGTH = 100

BY_ID = select(person).where(person.c.id == bindparam("person"))
BY_EMAIL = select(person).where(person.c.email == bindparam("email"))
SIGNING_IN = select(
    person,
    exists()
    .where(person_session.c.person_id == person.c.id, person_session.c.network == bindparam("network"))
    .label("is_known_network"),
).where(person.c.email == bindparam("email"))
LOCK = BY_ID.with_for_update(key_share=True)
END_INVITATIONS = (
    update(invitation)
    .where(invitation.c.invited_by == bindparam("actor"), invitation.c.ended_at.is_(None))
    .values(ended_at=func.now())
)
END_INVITATIONS_TO = (
    update(invitation)
    .where(invitation.c.email == person.c.email, person.c.id == bindparam("of_person"), invitation.c.ended_at.is_(None))
    .values(ended_at=func.now())
)
"""Ends the open invitations of a person's e-mail address."""
MAX_EMAIL_LENGTH = 254
"""Characters: the longest path of SMTP (RFC 5321 §4.5.3.1.3) without its brackets."""
FORM = re.compile(r"[0-9A-Za-z.!#$%&'*+/=?^_`{|}~-]{1,64}@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+", re.ASCII)
"""What browsers take for an address (the HTML standard, "valid e-mail address"), with a dot in the domain."""


def actor_of(person_id: UUID) -> str:
    """The person as the audit log and idempotency keys name them."""
    return f"person {person_id}"


def find_person(connection: Connection, person_id: UUID) -> Row[Any] | None:
    """The person with the id."""
    return connection.execute(BY_ID, {"person": person_id}).one_or_none()


def lock_person(connection: Connection, person_id: UUID) -> Row[Any]:
    """The person, whose password, state and second factor cannot change until the transaction ends."""
    return connection.execute(LOCK, {"person": person_id}).one()


def person_by_email(connection: Connection, email: str) -> Row[Any] | None:
    """The person with the e-mail address, in lower case."""
    return connection.execute(BY_EMAIL, {"email": email}).one_or_none()


def person_signing_in(connection: Connection, email: str, network: str) -> Row[Any] | None:
    """The person with the e-mail address; `is_known_network`: they signed in from that block of addresses lately."""
    return connection.execute(SIGNING_IN, {"email": email, "network": network}).one_or_none()


def create_person(
    connection: Connection, email: str, name: str, password_hash: str | None = None, *, by: Actor | None = None
) -> UUID | None:
    """Create a person without any role. Returns the id, or None if the e-mail address is taken.

    The audit log names no e-mail address.
    """
    person_id = new_id()
    values = {"id": person_id, "email": email, "name": name, "password_hash": password_hash}
    added = insert(person).values(values).on_conflict_do_nothing(index_elements=["email"]).returning(person.c.id)
    if connection.execute(added).one_or_none() is None:
        return None
    record(connection, by or Actor(actor_of(person_id)), "person.created", subject=person_id)
    return person_id


def change_password(
    connection: Connection, person_id: UUID, password_hash: str, *, session: UUID | None, by: Actor | None
) -> None:
    """Set a new password. Ends all sessions of the person but `session`, and their unused sign-in links."""
    connection.execute(update(person).where(person.c.id == person_id).values(password_hash=password_hash))
    connection.execute(sign_in_link.delete().where(sign_in_link.c.person_id == person_id))
    end_sessions(connection, person_id, keep=session)
    record(connection, by, "person.password_changed", subject=person_id)


def set_password_hash(connection: Connection, person_id: UUID, password_hash: str) -> None:
    """Store the same password, hashed again."""
    connection.execute(update(person).where(person.c.id == person_id).values(password_hash=password_hash))


def set_operator_role(connection: Connection, person_id: UUID, role: str | None, *, by: Actor | None = None) -> None:
    """Give a person a role in the installation, or with None none. Ends their sessions, as tokens have the old role,
    and open invitations by which they would get one that they are not to have.
    """
    before = lock_person(connection, person_id).operator_role
    if role is None or before not in (None, role):
        connection.execute(END_INVITATIONS_TO.where(invitation.c.operator_role.is_not(None)), {"of_person": person_id})
    if before == role:
        return
    connection.execute(update(person).where(person.c.id == person_id).values(operator_role=role))
    end_sessions(connection, person_id)
    record(
        connection,
        by,
        "person.operator_role_set",
        subject=person_id,
        before={"operator_role": before},
        after={"operator_role": role},
    )


def disable_person(connection: Connection, email: str, *, by: Actor | None = None) -> UUID:
    """Disable a person: their sessions, tokens and invitations end within seconds, and they cannot sign in.

    Raises Refused.
    """
    row = _known(connection, email)
    if row.state != "disabled":
        change = {"state": "disabled", "disabled_at": func.now()}
        connection.execute(update(person).where(person.c.id == row.id).values(change))
        connection.execute(sign_in_link.delete().where(sign_in_link.c.person_id == row.id))
        end_sessions(connection, row.id)
        end_invitations(connection, row.id)  # after their sessions, which a request that invites somebody locks
        record(connection, by, "person.disabled", subject=row.id)
    return UUID(str(row.id))


def enable_person(connection: Connection, email: str) -> None:
    """Enable a disabled person again. Raises Refused."""
    row = _known(connection, email)
    if row.state == "disabled":
        connection.execute(update(person).where(person.c.id == row.id).values({"state": "active", "disabled_at": None}))
        record(connection, None, "person.enabled", subject=row.id)


def end_invitations(connection: Connection, person_id: UUID, account_id: int | None = None) -> None:
    """End the open invitations that a person has made: all, or those to an account."""
    ended = END_INVITATIONS if account_id is None else END_INVITATIONS.where(invitation.c.account_id == account_id)
    connection.execute(ended, {"actor": actor_of(person_id)})


def _known(connection: Connection, email: str) -> Row[Any]:
    row = person_by_email(connection, email)
    if row is None:
        raise Refused(f"There is no person {email}. `bulksms person list` lists everyone.")
    return lock_person(connection, row.id)


def normalized_email(given: str) -> str | None:
    """The address in lower case and without surrounding spaces; None if it is not one.

    ASCII only, so that no look-alike letter passes for another.
    """
    email = given.strip()
    return email.lower() if len(email) <= MAX_EMAIL_LENGTH and FORM.fullmatch(email) else None
