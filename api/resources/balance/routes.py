"""The account's credits, and the ledger behind them."""

from typing import Any

from sqlalchemy import bindparam, select, text

from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.resources.balance.schemas import BalanceResponse, TransactionResponse
from api.schemas.paging import Paging, page_of
from shared.db.connection import reading
from shared.db.tables.accounts import account
from shared.ids import batch_of

BALANCE = select(
    account.c.available.label("balance"), account.c.reserved, account.c.low_balance_threshold, account.c.updated_at
).where(account.c.id == bindparam("account"))
TRANSACTIONS = text(
    """
    SELECT l.id, l.kind, l.debit, l.credit, l.amount, l.subject_type, l.subject, l.reason, l.created_at, b.send_id
      FROM ledger l
      LEFT JOIN batch b ON l.subject_type IN ('batch', 'message')
                       AND b.id = CASE l.subject_type WHEN 'message' THEN batch_of(l.subject) ELSE l.subject END
     WHERE l.account_id = :account AND l.id < :before ORDER BY l.id DESC LIMIT :limit
    """
)
"""The ledger with the send of each entry, which the entry names by itself, by its batch or by its message."""
NEWEST = 2**63 - 1

BALANCE_RESPONSE, TRANSACTION = BalanceResponse(), TransactionResponse()


@endpoint("GET", "/balance", response=BalanceResponse, scope="balance:read")
def balance(caller: Caller) -> Any:
    """Show the credits left to spend, and those reserved."""
    with reading(services().engine) as connection:
        row = connection.execute(BALANCE, {"account": caller.account_id}).one()
    return BALANCE_RESPONSE.dump({**row._mapping, "unit": "sms"})


@endpoint(
    "GET",
    "/balance/transactions",
    query=Paging,
    response=page_of(TransactionResponse),
    errors=("validation_failed",),
    scope="balance:read",
)
def transactions(caller: Caller, query: dict[str, Any]) -> Any:
    """List the ledger, newest first. Each entry names its send, batch or message."""
    limit = query["limit"]
    parameters = {
        "account": caller.account_id,
        "before": number_cursor(query.get("cursor"), NEWEST),
        "limit": limit + 1,
    }
    with reading_list(services().engine) as connection:
        rows = connection.execute(TRANSACTIONS, parameters).all()
    return page(rows, limit, _transaction, lambda row: str(row.id))


def _transaction(row: Any) -> Any:
    subject_type = row.subject_type
    batch = batch_of(row.subject) if subject_type == "message" else row.subject
    return TRANSACTION.dump(
        {
            **row._mapping,
            "send_id": row.subject if subject_type == "send" else row.send_id,
            "batch_id": batch if subject_type in ("batch", "message") else None,
            "message_id": row.subject if subject_type == "message" else None,
        }
    )
