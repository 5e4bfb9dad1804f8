"""Closes an account for good."""

from sqlalchemy import Connection, func, or_, select

from shared.accounts.administration import mark_account_closed
from shared.accounts.audit_log import Actor, record
from shared.accounts.refused import Refused, no_account
from shared.accounts.sandbox import is_sandbox
from shared.db.tables.accounts import account
from shared.db.tables.sends import send


def close_account(connection: Connection, account_id: int, reason: str, *, by: Actor | None = None) -> None:
    """Close the account and its sandbox: they accept nothing, their keys are revoked, and it cannot be undone.

    Its history, its ledger and the credits that are left stay. Closing it again changes nothing. Raises Refused while
    sends are open, and for a sandbox.
    """
    if is_sandbox(connection, account_id):
        raise Refused("This is a sandbox, which is closed with its account.")
    its = or_(account.c.id == account_id, account.c.sandbox_of == account_id)
    locked = connection.execute(
        select(account.c.id, account.c.state, account.c.available)
        .where(its)
        .order_by(account.c.id)
        .with_for_update(key_share=True)
    ).all()
    row = next((each for each in locked if each.id == account_id), None)
    if row is None:
        raise no_account(account_id)
    if row.state == "closed":
        return
    ids = [each.id for each in locked]
    still_open = select(func.count()).select_from(send).where(send.c.account_id.in_(ids), send.c.completed_at.is_(None))
    count = connection.execute(still_open).scalar_one()
    if count:
        raise Refused(f"The account has open sends: {count:,}. Cancel them, or wait until they have completed.")
    revoked = mark_account_closed(connection, account_id)
    record(
        connection,
        by,
        "account.closed",
        account_id=account_id,
        before={"state": row.state, "available": row.available},
        after={"state": "closed", "keys_revoked": revoked},
        reason=reason,
    )
