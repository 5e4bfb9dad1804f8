"""Stored quotes: a send with a quote's id and the same body costs no more than quoted."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, bindparam, func, insert, select

from api.commit.draft import Draft
from api.idempotency import fingerprint
from api.problems import Problem
from api.services import Services
from shared.db.connection import reading
from shared.db.tables.rules import quote
from shared.ids import new_id
from shared.plurals import counted

VALID = timedelta(minutes=15)
"""Time until a quote expires."""

KEEP = insert(quote).values(expires_at=func.clock_timestamp() + VALID).returning(quote.c.id, quote.c.expires_at)
FIND = select(*quote.c["fingerprint", "cost", "price_version_id"]).where(
    quote.c.id == bindparam("quote"),
    quote.c.account_id == bindparam("account"),
    quote.c.expires_at > func.clock_timestamp(),
)


def keep(connection: Connection, draft: Draft, body: dict[str, Any]) -> tuple[UUID, datetime]:
    """Store a quote for the request. Returns its id and when it expires."""
    values = {
        "id": new_id(),
        "account_id": draft.account_id,
        "fingerprint": _fingerprint(body),
        "cost": draft.cost,
        "price_version_id": draft.price_version_id,
    }
    row = connection.execute(KEEP, values).one()
    return row.id, row.expires_at


def find_quote(services: Services, account_id: int, quote_id: UUID) -> Row[Any] | None:
    """The `fingerprint`, `cost` and `price_version_id` of an account's quote; None if it is not valid."""
    with reading(services.engine) as connection:
        return connection.execute(FIND, {"quote": quote_id, "account": account_id}).one_or_none()


def enforce_quote(services: Services, draft: Draft, body: dict[str, Any], quote_id: UUID) -> None:
    """Raise Problem unless the quote is for this request, is still valid, and covers the send's cost."""
    problem = _problem(find_quote(services, draft.account_id, quote_id), draft, body)
    if problem is not None:
        raise problem


def _problem(row: Row[Any] | None, draft: Draft, body: dict[str, Any]) -> Problem | None:
    if row is None:
        return Problem("quote_expired", f"The quote does not exist, or is older than {VALID.seconds // 60} minutes.")
    if bytes(row.fingerprint) != _fingerprint(body):
        return Problem("quote_mismatch", "The quote is for a request with a different body.")
    if draft.cost > row.cost:
        detail = f"This send needs {counted(draft.cost, 'credit')} now; the quote was for {row.cost:,}."
        return Problem("quote_changed", detail, required=draft.cost, quoted=row.cost)
    return None


def _fingerprint(body: dict[str, Any]) -> bytes:
    quoted = {name: value for name, value in body.items() if name != "quote_id"}
    return fingerprint(quoted)
