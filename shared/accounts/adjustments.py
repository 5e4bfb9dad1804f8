"""Adjustments of an account's credits in either direction, such as a correction or a goodwill credit.

As in shared/accounts/administration.py, everything works in the connection's transaction, is recorded in the audit log,
and raises Refused.
"""

from uuid import UUID, uuid5

from sqlalchemy import Connection, bindparam, case, select

from shared.accounts.administration import lock_account
from shared.accounts.audit_log import Actor
from shared.accounts.refused import Refused
from shared.accounts.sandbox import is_sandbox
from shared.accounts.top_ups import MAX_CREDITS, Posted, post_recorded
from shared.db.tables.money import ledger
from shared.ledger.ledger import Entry

ADJUSTMENTS = UUID("b0e0c2f4-6a7e-5d0c-8f43-3b7d9a1e5c22")
"""Namespace of the ids of adjustments (UUID version 5 of account and key)."""
ADJUSTED = select(case((ledger.c.credit == "available", ledger.c.amount), else_=-ledger.c.amount)).where(
    ledger.c.subject == bindparam("subject"), ledger.c.kind == "adjustment"
)


def adjust(
    connection: Connection, account_id: int, credits: int, reason: str, key: str, *, by: Actor | None = None
) -> Posted:
    """Add credits, or take them if negative, once per `key` of the account: repeating it changes nothing.

    At most what the account could spend is taken: to let it owe more, raise its credit limit first. Raises Refused for
    more, and if the key was used for another amount.
    """
    if not 0 < abs(credits) <= MAX_CREDITS:
        raise Refused(f"An adjustment is 1 to {MAX_CREDITS:,} credits, or as many below 0; {credits:,} were given.")
    available = lock_account(connection, account_id).available
    if is_sandbox(connection, account_id):
        raise Refused("This is a sandbox, whose play credits are not adjusted.")
    subject = adjustment_id(account_id, key)
    before = connection.execute(ADJUSTED, {"subject": subject}).scalar()
    if before == credits:
        return Posted(available, repeated=True)
    if before is not None:
        raise Refused(f"The key {key!r} was used for an adjustment of {before:,} credits. Use another key.")
    if credits < 0 and available + credits < 0:
        raise Refused(
            f"Only {max(available, 0):,} credits can be taken; reserved or spent credits cannot. Raise the credit limit"
            " first, so that the account may owe them."
        )
    entry = Entry(account_id, "adjustment", credits, "adjustment", subject, reason=reason)
    return post_recorded(connection, entry, "account.adjusted", available, by)


def adjustment_id(account_id: int, key: str) -> UUID:
    """The id of the account's adjustment with this key."""
    return uuid5(ADJUSTMENTS, f"{account_id}:{key}")
