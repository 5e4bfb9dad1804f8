"""Credentials of the SMPP server as they are shown, with their open binds."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select

from shared.accounts.refused import Missing
from shared.accounts.smpp_credentials import BIND, IS_ALIVE, IS_LIVE, LOCK, OF, OF_ACCOUNT, SETTINGS
from shared.db.tables.accounts import account
from shared.db.tables.smpp import smpp_credential
from shared.ids import FIRST_ID

IS_TEST = account.c.sandbox_of.is_not(None).label("test")
CREDENTIALS = (
    select(*OF["id", "system_id", "account_id"], IS_TEST, *OF[SETTINGS], *OF["created_at", "revoked_at"])
    .join(account, account.c.id == OF.account_id)
    .order_by(OF.system_id)
)
BINDS = (
    select(*OF["system_id", "account_id"], *BIND["id", "credential_id", "kind", "address"], BIND.bound_at)
    .join(smpp_credential, OF.id == BIND.credential_id)
    .where(IS_ALIVE)
    .order_by(BIND.id)
)


def list_credentials(
    connection: Connection,
    account_id: int | None = None,
    *,
    after: str = "",
    limit: int | None = None,
    all: bool = False,
) -> list[dict[str, Any]]:
    """Credentials of one account and its sandbox, or of all accounts; with `all` also those that are revoked."""
    chosen = CREDENTIALS if account_id is None else CREDENTIALS.where(OF_ACCOUNT)
    statement = (chosen if all else chosen.where(IS_LIVE)).where(OF.system_id > after).limit(limit)
    found = [dict(row) for row in connection.execute(statement, {"account": account_id}).mappings()]
    binds = connection.execute(BINDS.where(BIND.credential_id.in_([each["id"] for each in found]))).mappings().all()
    for each in found:
        each["networks"] = each["networks"] and [str(network) for network in each["networks"]]
        each["binds"] = [dict(bind) for bind in binds if bind["credential_id"] == each["id"]]
    return found


def find_own(connection: Connection, account_id: int, credential_id: UUID, *, lock: bool = False) -> dict[str, Any]:
    """A credential of the account or its sandbox that is not revoked. Raises Missing."""
    if lock:
        connection.execute(LOCK, {"credential": credential_id})
    for each in list_credentials(connection, account_id):
        if each["id"] == credential_id:
            return each
    raise Missing(f"The account has no SMPP credential {credential_id}.")


def list_binds(
    connection: Connection, account_id: int | None = None, *, after: UUID = FIRST_ID, limit: int | None = None
) -> list[dict[str, Any]]:
    """Open binds of one account and its sandbox, or of all, oldest first."""
    chosen = BINDS if account_id is None else BINDS.where(OF_ACCOUNT)
    statement = chosen.where(BIND.id > after).limit(limit)
    return [dict(row) for row in connection.execute(statement, {"account": account_id}).mappings()]
