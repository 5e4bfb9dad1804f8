"""Top-ups of an account, and the reversal of a mistaken one.

As in shared/accounts/administration.py, everything works in the connection's transaction, is recorded in the audit log,
and raises Refused.
"""

from typing import NamedTuple
from uuid import UUID, uuid5

from sqlalchemy import Connection, and_, bindparam, select

from shared.accounts.administration import lock_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Refused
from shared.accounts.sandbox import is_sandbox
from shared.db.tables.money import ledger
from shared.ledger.ledger import Entry, post

TOP_UPS = UUID("6f0c5a52-3d0f-5a58-9a0e-2f6f6f7b1c11")
"""Namespace of the ids of top-ups (UUID version 5 of account and key)."""
MAX_CREDITS = 10**12
"""Maximum of one top-up; more would be a typing mistake."""

TOPPED_UP = select(ledger.c.amount).where(ledger.c.subject == bindparam("subject"), ledger.c.kind == "topup")
REVERSED = ledger.alias("reversed")
TOP_UP = (
    select(ledger.c.subject, ledger.c.amount, REVERSED.c.amount.label("reversed"))
    .outerjoin(REVERSED, and_(REVERSED.c.subject == ledger.c.subject, REVERSED.c.kind == "reversal"))
    .where(
        ledger.c.account_id == bindparam("account"),
        ledger.c.kind == "topup",
        ledger.c.subject.in_(bindparam("subjects", expanding=True)),
    )
)


class Posted(NamedTuple):
    """Result of a top-up, its reversal or an adjustment: the credits to spend now, and whether it repeats one."""

    balance: int
    repeated: bool


def top_up(
    connection: Connection, account_id: int, credits: int, reason: str, key: str, *, by: Actor | None = None
) -> Posted:
    """Add credits, once per `key` of the account: repeating the same top-up changes nothing.

    Raises Refused if the key was used for another amount.
    """
    if not 0 < credits <= MAX_CREDITS:
        raise Refused(f"A top-up is 1 to {MAX_CREDITS:,} credits; {credits:,} were given.")
    row = lock_account(connection, account_id)
    if row.state == "closed":
        raise Refused("The account is closed.")
    available = row.available
    if is_sandbox(connection, account_id):
        raise Refused("This is a sandbox. Its play credits are refilled with POST /api/v1/sandbox/refill.")
    subject = top_up_id(account_id, key)
    before = connection.execute(TOPPED_UP, {"subject": subject}).scalar()
    if before is None:
        entry = Entry(account_id, "topup", credits, "topup", subject, reason=reason)
        return post_recorded(connection, entry, "account.topped_up", available, by)
    if before != credits:
        raise Refused(f"The key {key!r} was used for a top-up of {before:,} credits. Use another key for a new top-up.")
    return Posted(int(available), repeated=True)


def reverse_top_up(
    connection: Connection, account_id: int, top_up: str, credits: int, reason: str, *, by: Actor | None = None
) -> Posted:
    """Reverse credits of a top-up, given by its id or key. Once only: repeating the same reversal changes nothing.

    Only credits that the account could spend can be reversed, not reserved or spent ones.
    """
    row = lock_account(connection, account_id)
    subjects = [top_up_id(account_id, top_up), *_as_id(top_up)]
    original = connection.execute(TOP_UP, {"account": account_id, "subjects": subjects}).one_or_none()
    if original is None:
        raise Refused(
            f"The account has no top-up with the key or id {top_up!r}.", "`bulksms account topups ACCOUNT` shows them."
        )
    if original.reversed is not None:
        if original.reversed == credits:
            return Posted(int(row.available), repeated=True)
        raise Refused(f"{original.reversed:,} credits of this top-up were reversed before; that can be done once.")
    if not 0 < credits <= original.amount:
        raise Refused(f"1 to {original.amount:,} credits of this top-up can be reversed; {credits:,} were given.")
    if credits > row.available:
        raise Refused(
            f"Only {max(row.available, 0):,} credits are available; reserved or spent credits cannot be reversed."
            " Reverse at most that many, or cancel sends first."
        )
    entry = Entry(account_id, "reversal", credits, "topup", original.subject, reason=reason)
    return post_recorded(connection, entry, "account.top_up_reversed", row.available, by)


def post_recorded(connection: Connection, entry: Entry, action: str, available: int, by: Actor | None) -> Posted:
    """Post an operator's entry, and record it. `available` is what the account could spend before."""
    balance = post(connection, [entry])[entry.account_id]
    record(
        connection,
        by,
        action,
        account_id=entry.account_id,
        subject=entry.subject,
        before={"available": available},
        after={"available": balance},
        reason=entry.reason,
    )
    return Posted(balance, repeated=False)


def top_up_id(account_id: int, key: str) -> UUID:
    """The id of the account's top-up with this key."""
    return uuid5(TOP_UPS, f"{account_id}:{key}")


def has_top_up(connection: Connection, account_id: int, top_up_id: UUID) -> bool:
    """Whether the account has a top-up with this id."""
    return connection.execute(TOP_UP, {"account": account_id, "subjects": [top_up_id]}).one_or_none() is not None


def _as_id(value: str) -> list[UUID]:
    try:
        return [UUID(value)]
    except ValueError:
        return []
