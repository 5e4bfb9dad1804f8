"""The account's credits, and the ledger behind them."""

from typing import Any

from sqlalchemy import Connection, and_, bindparam, case, func, select

from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.resources.balance.schemas import BalanceResponse, TransactionResponse
from api.schemas.paging import newest_number
from shared.db.tables.accounts import TO_SPEND, account
from shared.db.tables.money import ledger
from shared.db.tables.sends import batch
from shared.ids import batch_of

BALANCE = select(
    TO_SPEND.label("balance"),
    *account.c["available", "credit_limit", "reserved", "low_balance_threshold", "spend_threshold", "updated_at"],
).where(account.c.id == bindparam("account"))
NAMED_BATCH = case((ledger.c.subject_type == "message", func.batch_of(ledger.c.subject)), else_=ledger.c.subject)
TRANSACTIONS = (
    select(
        *ledger.c["id", "kind", "debit", "credit", "amount", "subject_type", "subject", "reason", "created_at"],
    )
    .add_columns(batch.c.send_id)
    .outerjoin_from(ledger, batch, and_(ledger.c.subject_type.in_(["batch", "message"]), batch.c.id == NAMED_BATCH))
    .where(ledger.c.account_id == bindparam("account"), ledger.c.id < bindparam("before"))
    .order_by(ledger.c.id.desc())
    .limit(bindparam("limit"))
)
"""The ledger with the send of each entry, which the entry names by itself, by its batch or by its message."""


@endpoint("GET", "/balance", response=BalanceResponse, scope="balance:read")
def get_balance(caller: Caller, connection: Connection) -> Any:
    """Show the credits left to spend, and those reserved."""
    row = connection.execute(BALANCE, {"account": caller.account_id}).one()
    unit = services().settings.unit
    return {**row._mapping, "unit": str(unit), "available_amount": unit.amount(row.available)}


@endpoint("GET", "/balance/transactions", pages=newest_number(TransactionResponse), scope="balance:read")
def list_transactions(caller: Caller, connection: Connection, before: int, limit: int) -> Any:
    """List the ledger, newest first. Each entry names its send, batch or message."""
    parameters = {"account": caller.account_id, "before": before, "limit": limit}
    return list(map(_transaction, connection.execute(TRANSACTIONS, parameters)))


def _transaction(row: Any) -> Any:
    subject_type = row.subject_type
    batch = batch_of(row.subject) if subject_type == "message" else row.subject
    return {
        **row._mapping,
        "send_id": row.subject if subject_type == "send" else row.send_id,
        "batch_id": batch if subject_type in ("batch", "message") else None,
        "message_id": row.subject if subject_type == "message" else None,
    }
