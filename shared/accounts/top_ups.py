"""Top-ups of an account, the reversal of a mistaken one, and adjustments such as a correction or a goodwill credit.

As in shared/accounts/administration.py, everything works in the connection's transaction, is recorded in the audit log,
and raises Refused.
"""

from typing import NamedTuple
from uuid import UUID, uuid5

from sqlalchemy import Connection, and_, bindparam, case, select

from shared.accounts.administration import lock_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Missing, Refused
from shared.accounts.sandbox import is_sandbox
from shared.db.tables.money import ledger
from shared.ledger.ledger import Entry, post

TOP_UPS = UUID("6f0c5a52-3d0f-5a58-9a0e-2f6f6f7b1c11")
ADJUSTMENTS = UUID("b0e0c2f4-6a7e-5d0c-8f43-3b7d9a1e5c22")
"""Namespaces of the ids of top-ups and of adjustments (UUID version 5 of account and key)."""
MAX_CREDITS = 10**12
"""Maximum of one top-up or adjustment; more would be a typing mistake."""

POSTED = select(case((ledger.c.credit == "available", ledger.c.amount), else_=-ledger.c.amount)).where(
    ledger.c.subject == bindparam("subject"), ledger.c.kind == bindparam("kind")
)
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
    """What was posted, or was before: its id, the credits to spend now, and whether it repeats what was posted."""

    id: UUID
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
    entry = Entry(account_id, "topup", credits, "topup", _id(TOP_UPS, account_id, key), reason=reason)
    return _post_once(connection, entry, "a top-up", "account.topped_up", by)


def adjust(
    connection: Connection, account_id: int, credits: int, reason: str, key: str, *, by: Actor | None = None
) -> Posted:
    """Add credits, or take them if negative, once per `key` of the account: repeating it changes nothing.

    At most what the account could spend is taken: to let it owe more, raise its credit limit first. Raises Refused for
    more, and if the key was used for another amount.
    """
    if not 0 < abs(credits) <= MAX_CREDITS:
        raise Refused(f"An adjustment is 1 to {MAX_CREDITS:,} credits, or as many below 0; {credits:,} were given.")
    entry = Entry(account_id, "adjustment", credits, "adjustment", _id(ADJUSTMENTS, account_id, key), reason=reason)
    return _post_once(connection, entry, "an adjustment", "account.adjusted", by)


def reverse_top_up(
    connection: Connection, account_id: int, top_up: str, credits: int, reason: str, *, by: Actor | None = None
) -> Posted:
    """Reverse credits of a top-up, given by its id or key. Once only: repeating the same reversal changes nothing.

    Only credits that the account could spend can be reversed, not reserved or spent ones.
    """
    row = lock_account(connection, account_id)
    subjects = [_id(TOP_UPS, account_id, top_up), *_as_id(top_up)]
    original = connection.execute(TOP_UP, {"account": account_id, "subjects": subjects}).one_or_none()
    if original is None:
        raise Missing(
            f"The account has no top-up with the key or id {top_up!r}.", "`bulksms account topups ACCOUNT` shows them."
        )
    if original.reversed is not None:
        if original.reversed == credits:
            return Posted(original.subject, row.available, repeated=True)
        raise Refused(f"{original.reversed:,} credits of this top-up were reversed before; that can be done once.")
    if not 0 < credits <= original.amount:
        raise Refused(f"1 to {original.amount:,} credits of this top-up can be reversed; {credits:,} were given.")
    if credits > row.available:
        raise Refused(
            f"Only {max(row.available, 0):,} credits are available; reserved or spent credits cannot be reversed."
            " Reverse at most that many, or cancel sends first."
        )
    entry = Entry(account_id, "reversal", credits, "topup", original.subject, reason=reason)
    return _post(connection, entry, "account.top_up_reversed", row.available, by)


def _post_once(connection: Connection, entry: Entry, what: str, action: str, by: Actor | None) -> Posted:
    """Post a top-up or an adjustment, unless that was done."""
    row = lock_account(connection, entry.account_id)
    if row.state == "closed" and entry.kind == "topup":
        raise Refused("The account is closed.")
    available = row.available
    if is_sandbox(connection, entry.account_id):
        raise Refused("This is a sandbox. Its play credits are refilled with POST /api/v1/sandbox/refill.")
    before = connection.execute(POSTED, {"subject": entry.subject, "kind": entry.kind}).scalar()
    if before == entry.amount:
        return Posted(entry.subject, available, repeated=True)
    if before is not None:
        raise Refused(f"The key was used for {what} of {before:,} credits. Use another key for a new one.")
    if entry.amount < 0 and available + entry.amount < 0:
        raise Refused(
            f"Only {max(available, 0):,} credits can be taken; reserved or spent credits cannot. Raise the credit limit"
            " first, so that the account may owe them."
        )
    return _post(connection, entry, action, available, by)


def _post(connection: Connection, entry: Entry, action: str, available: int, by: Actor | None) -> Posted:
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
    return Posted(entry.subject, balance, repeated=False)


def _id(namespace: UUID, account_id: int, key: str) -> UUID:
    return uuid5(namespace, f"{account_id}:{key}")


def _as_id(value: str) -> list[UUID]:
    try:
        return [UUID(value)]
    except ValueError:
        return []
