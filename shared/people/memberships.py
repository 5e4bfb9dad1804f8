"""Memberships: which people are in which accounts, and in which roles."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, Select, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.administration import Refused
from shared.accounts.audit_log import Actor, record
from shared.db.tables.accounts import account
from shared.db.tables.people import invitation, membership, person
from shared.people.persons import END_INVITATIONS_TO, end_invitations
from shared.people.roles import Role

MEMBER = (
    select(
        person.c.id.label("person_id"),
        person.c.email,
        person.c.name,
        person.c.totp_secret.is_not(None).label("totp"),
        person.c.last_sign_in_at,
        membership.c.role,
        membership.c.created_at,
    )
    .join(person, person.c.id == membership.c.person_id)
    .where(membership.c.account_id == bindparam("account"), membership.c.ended_at.is_(None))
)
MEMBERS = MEMBER.where(person.c.id > bindparam("after")).order_by(person.c.id).limit(bindparam("most"))
ONE_MEMBER = MEMBER.where(person.c.id == bindparam("person"))
MEMBERSHIP: Select[*tuple[Any, ...]] = (
    select(membership.c.role, membership.c.version, *account.c["id", "name", "state", "sandbox_of", "country"])
    .join(account, account.c.id == membership.c.account_id)
    .where(membership.c.person_id == bindparam("person"), membership.c.ended_at.is_(None))
)
ONE_MEMBERSHIP = MEMBERSHIP.where(account.c.id == bindparam("account"))
ACCOUNTS = MEMBERSHIP.order_by(account.c.name)
OWNERS = (
    select(membership.c.person_id)
    .join(person, person.c.id == membership.c.person_id)
    .where(
        membership.c.account_id == bindparam("account"),
        membership.c.role == str(Role.OWNER),
        membership.c.ended_at.is_(None),
        person.c.state == "active",
    )
    .order_by(membership.c.person_id)
    .with_for_update(of=membership, key_share=True)
)
"""Locks the memberships of all active owners of an account.

Everybody who demotes or removes an owner locks the same rows in the same order, and then sees what the one before has
left, so two requests at once cannot leave an account without an owner.
"""
OF_MEMBER = (membership.c.account_id == bindparam("of_account")) & (membership.c.person_id == bindparam("of_person"))
CHANGE = (
    update(membership)
    .where(membership.c.ended_at.is_(None))
    .values(version=membership.c.version + 1, changed_at=func.now())
)
SET_ROLE = CHANGE.where(OF_MEMBER).values(role=bindparam("new_role"))
END_INVITATIONS_OF_MEMBER = END_INVITATIONS_TO.where(invitation.c.account_id == bindparam("of_account"))
"""Invitations of the member: one that was made while they accepted another is open."""
END_MEMBERSHIPS = CHANGE.values(ended_at=func.now())
"""Ends all memberships; add whose."""
END = END_MEMBERSHIPS.where(OF_MEMBER)


def accounts_of(connection: Connection, person_id: UUID) -> Sequence[Row[Any]]:
    """The accounts of a person, by name, each with their role."""
    return connection.execute(ACCOUNTS, {"person": person_id}).all()


def find_membership(connection: Connection, person_id: UUID, account_id: int) -> Row[Any] | None:
    """The person's role in the account, with the membership's version, and the account's state and `sandbox_of`."""
    return connection.execute(ONE_MEMBERSHIP, {"person": person_id, "account": account_id}).one_or_none()


def lock_owners(connection: Connection, account_id: int) -> set[UUID]:
    """The account's active owners, whose memberships cannot change until the transaction ends."""
    return set(connection.execute(OWNERS, {"account": account_id}).scalars())


def lock_membership(connection: Connection, account_id: int, person_id: UUID) -> int | None:
    """The membership's version, which cannot change until the transaction ends; None if they are not in the account."""
    version: int | None = connection.execute(
        select(membership.c.version).where(OF_MEMBER, membership.c.ended_at.is_(None)).with_for_update(read=True),
        {"of_account": account_id, "of_person": person_id},
    ).scalar_one_or_none()
    return version


def lock_role(connection: Connection, account_id: int, person_id: UUID) -> str | None:
    """The person's role, which cannot change until the transaction ends; None if they are not in the account."""
    role: str | None = connection.execute(
        select(membership.c.role).where(OF_MEMBER, membership.c.ended_at.is_(None)).with_for_update(key_share=True),
        {"of_account": account_id, "of_person": person_id},
    ).scalar_one_or_none()
    return role


def list_members(connection: Connection, account_id: int, after: UUID, limit: int) -> Sequence[Row[Any]]:
    """People of the account, in the order of their ids."""
    return connection.execute(MEMBERS, {"account": account_id, "after": after, "most": limit}).all()


def find_member(connection: Connection, account_id: int, person_id: UUID) -> Row[Any] | None:
    """One person of the account."""
    return connection.execute(ONE_MEMBER, {"account": account_id, "person": person_id}).one_or_none()


def add_member(connection: Connection, account_id: int, person_id: UUID, role: str, *, by: Actor | None = None) -> None:
    """Add a person to an account. Whoever is in it already keeps their role."""
    added = insert(membership).values(account_id=account_id, person_id=person_id, role=role)
    again = {
        "role": role,
        "version": membership.c.version + 1,
        "created_at": func.now(),
        "changed_at": func.now(),
        "ended_at": None,
    }
    result = connection.execute(
        added.on_conflict_do_update(
            index_elements=[membership.c.account_id, membership.c.person_id],
            set_=again,
            where=membership.c.ended_at.is_not(None),
        ).returning(membership.c.person_id)
    )
    if result.one_or_none() is not None:
        record(connection, by, "member.added", account_id=account_id, subject=person_id, after={"role": role})


def change_role(
    connection: Connection, account_id: int, person_id: UUID, role: str, *, by: Actor | None = None
) -> bool:
    """Give a person of the account another role. Tokens with the old one end within seconds.

    Returns False if they are not in the account. Raises Refused for the last owner.
    """
    before = _lock(connection, account_id, person_id, stays_owner=role == Role.OWNER)
    if before is None or before == role:
        return before is not None
    ids = {"of_account": account_id, "of_person": person_id}
    connection.execute(SET_ROLE, {**ids, "new_role": role})
    end_invitations(connection, person_id, account_id)
    record(
        connection,
        by,
        "member.role_changed",
        account_id=account_id,
        subject=person_id,
        before={"role": before},
        after={"role": role},
    )
    return True


def end_membership(connection: Connection, account_id: int, person_id: UUID, *, by: Actor | None = None) -> bool:
    """Remove a person from the account. Their tokens for it end within seconds, and open invitations
    by them and to them at once.

    Returns False if they are not in the account. Raises Refused for the last owner.
    """
    before = _lock(connection, account_id, person_id, stays_owner=False)
    if before is None:
        return False
    connection.execute(END, {"of_account": account_id, "of_person": person_id})
    connection.execute(END_INVITATIONS_OF_MEMBER, {"of_account": account_id, "of_person": person_id})
    end_invitations(connection, person_id, account_id)
    record(connection, by, "member.removed", account_id=account_id, subject=person_id, before={"role": before})
    return True


def _lock(connection: Connection, account_id: int, person_id: UUID, *, stays_owner: bool) -> str | None:
    """The person's role, which cannot change until the transaction ends; None without one.

    Raises Refused for the last owner.
    """
    owners = lock_owners(connection, account_id)
    role = lock_role(connection, account_id, person_id)
    if role == Role.OWNER and not stays_owner and not owners - {person_id}:
        raise Refused("This is the account's last owner. Make someone else an owner first.")
    return role
