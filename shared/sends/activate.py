"""Activates a suspended or frozen account; what waits of it continues at its place in fair order."""

from sqlalchemy import Connection

from shared.accounts.administration import activate_account
from shared.accounts.audit_log import Actor
from shared.sends.requeue import requeue_account


def activate(connection: Connection, account_id: int, reason: str | None = None, *, by: Actor | None = None) -> None:
    """Reactivate a suspended or frozen account. Raises Refused if it is closed."""
    requeue_account(connection, account_id)
    activate_account(connection, account_id, reason, by=by)
