"""Activates a suspended or frozen account; its waiting messages continue at their place in fair order."""

from sqlalchemy import Connection

from shared.accounts.administration import activate_account
from shared.accounts.audit_log import Actor
from shared.sends.requeue import requeue_frozen


def reactivate(connection: Connection, account_id: int, reason: str | None = None, *, by: Actor | None = None) -> None:
    """Activate a suspended or frozen account. Raises Refused if it is closed."""
    requeue_frozen(connection, account_id)
    activate_account(connection, account_id, reason, by=by)
