"""Invitations by link: to an account in a role, to a role in the installation, or both. Each is accepted once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, exists, func, or_, select, update

from shared.accounts.administration import Refused
from shared.accounts.audit_log import Actor, operator, record
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.accounts import account, api_key
from shared.db.tables.people import invitation, membership, person
from shared.ids import new_id
from shared.people.memberships import add_member, lock_role
from shared.people.persons import set_operator_role
from shared.people.random_secrets import INVITATION, hash_of, new_secret

VALID = timedelta(days=7)
MAX_OPEN = 100
"""Open invitations of one account."""

KEY_ENDED = exists().where(
    api_key.c.id == func.substr(invitation.c.invited_by, len("key ") + 1),
    or_(api_key.c.revoked_at.is_not(None), api_key.c.expires_at <= func.now()),
)
IS_OPEN = invitation.c.ended_at.is_(None) & (invitation.c.expires_at > func.now()) & ~KEY_ENDED
"""An invitation also ends with the API key that made it, which is revoked when its account is closed."""
OF_ACCOUNT = invitation.c.account_id == bindparam("account")
LIST = (
    select(invitation)
    .where(OF_ACCOUNT, invitation.c.id > bindparam("after"), IS_OPEN)
    .order_by(invitation.c.id)
    .limit(bindparam("most"))
)
FIND = select(invitation).where(OF_ACCOUNT, invitation.c.id == bindparam("invitation"), IS_OPEN)
OPEN_ROLE = select(invitation.c.role).where(OF_ACCOUNT, invitation.c.email == bindparam("email"), IS_OPEN)
COUNT = select(func.count()).select_from(invitation).where(OF_ACCOUNT, IS_OPEN)
LIVE_ACCOUNT = select(account.c.sandbox_of).where(account.c.id == bindparam("account"))
IS_MEMBER = select(
    exists(
        select(membership.c.person_id)
        .join(person, person.c.id == membership.c.person_id)
        .where(
            membership.c.account_id == bindparam("account"),
            membership.c.ended_at.is_(None),
            person.c.email == bindparam("email"),
        )
    )
)
BY_TOKEN = (
    select(invitation, account.c.name.label("account_name"))
    .outerjoin(account, account.c.id == invitation.c.account_id)
    .where(invitation.c.token_hash == bindparam("token_hash"), IS_OPEN)
)
ACCEPT = (
    update(invitation)
    .where(invitation.c.token_hash == bindparam("hash_of_token"), IS_OPEN)
    .values(ended_at=func.now())
    .returning(invitation)
)
"""Ends an open invitation. Of two requests with its token, only one gets a row."""
REVOKE = (
    update(invitation)
    .where(invitation.c.account_id == bindparam("of_account"), invitation.c.id == bindparam("of_id"), IS_OPEN)
    .values(ended_at=func.now())
)


class NewInvitation(NamedTuple):
    """An invitation, with the token of its link, which is shown only once."""

    id: UUID
    token: str
    expires_at: datetime


def invite(
    connection: Connection,
    email: str,
    account_id: int | None,
    role: str | None,
    operator_role: str | None = None,
    *,
    by: Actor | None = None,
) -> NewInvitation:
    """Invite somebody by e-mail address, in lower case. Replaces their open invitation to the same account.

    Nothing is sent: whoever invites passes the link on. Raises Refused. The audit log names no e-mail address.
    """
    by = by or operator()
    if account_id is not None:
        one_at_a_time(connection, "invitations", account_id)
    live_account = connection.execute(LIVE_ACCOUNT, {"account": account_id}).scalar()
    if live_account is not None:
        raise Refused(f"Account {account_id} is the sandbox of account {live_account}: invite people to that one.")
    if account_id is not None and connection.execute(IS_MEMBER, {"account": account_id, "email": email}).scalar():
        raise Refused(f"{email} is already in this account.")
    token, invitation_id = new_secret(INVITATION), new_id()
    connection.execute(
        update(invitation)
        .where(
            invitation.c.email == email,
            invitation.c.account_id.is_not_distinct_from(account_id),
            invitation.c.ended_at.is_(None),
        )
        .values(ended_at=func.now())
    )
    expires_at: datetime = connection.execute(
        invitation.insert()
        .values(
            id=invitation_id,
            email=email,
            account_id=account_id,
            role=role,
            operator_role=operator_role,
            token_hash=hash_of(token),
            invited_by=by.name,
            expires_at=func.now() + VALID,
        )
        .returning(invitation.c.expires_at)
    ).scalar_one()
    if account_id is not None and connection.execute(COUNT, {"account": account_id}).scalar_one() > MAX_OPEN:
        raise Refused(f"An account has at most {MAX_OPEN} open invitations. Revoke one first.")
    after = {"role": role, "operator_role": operator_role}
    after = {name: value for name, value in after.items() if value is not None}
    record(connection, by, "invitation.created", account_id=account_id, subject=invitation_id, after=after)
    return NewInvitation(invitation_id, token, expires_at)


def list_invitations(connection: Connection, account_id: int, after: UUID, limit: int) -> Sequence[Row[Any]]:
    """Open invitations to the account, in the order of their ids."""
    return connection.execute(LIST, {"account": account_id, "after": after, "most": limit}).all()


def find_invitation(connection: Connection, account_id: int, invitation_id: UUID) -> Row[Any] | None:
    """An open invitation to the account."""
    return connection.execute(FIND, {"account": account_id, "invitation": invitation_id}).one_or_none()


def open_role(connection: Connection, account_id: int, email: str) -> str | None:
    """The role of the open invitation of the e-mail address to the account; None if there is none."""
    role: str | None = connection.execute(OPEN_ROLE, {"account": account_id, "email": email}).scalar()
    return role


def open_invitation(connection: Connection, token: str) -> Row[Any] | None:
    """The open invitation of this token, with `account_name`."""
    return connection.execute(BY_TOKEN, {"token_hash": hash_of(token)}).one_or_none()


def revoke_invitation(connection: Connection, account_id: int, invitation_id: UUID, *, by: Actor | None = None) -> bool:
    """Revoke an open invitation to the account. Returns False if there is none."""
    revoked = connection.execute(REVOKE, {"of_account": account_id, "of_id": invitation_id}).rowcount
    if revoked:
        record(connection, by, "invitation.revoked", account_id=account_id, subject=invitation_id)
    return bool(revoked)


def accept(connection: Connection, token: str, person_id: UUID, *, by: Actor) -> bool:
    """Give the person what the invitation offers, and end it. Returns False if it is no longer open."""
    offered = open_invitation(connection, token)
    if offered is not None and offered.account_id is not None:
        lock_role(connection, offered.account_id, person_id)  # before the invitation, as their removal does
    row = connection.execute(ACCEPT, {"hash_of_token": hash_of(token)}).one_or_none()
    if row is None:
        return False
    if row.account_id is not None:
        add_member(connection, row.account_id, person_id, row.role, by=by)
    if row.operator_role is not None:
        set_operator_role(connection, person_id, row.operator_role, by=by)
    return True
