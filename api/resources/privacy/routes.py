"""Erase a person's data."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, Select, bindparam, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.problems import Problem
from api.resources.privacy.schemas import ErasureBody, ErasureResponse
from api.schemas.paging import newest_id
from shared.accounts.audit_log import Actor, record
from shared.db.tables import messages as tables
from shared.job_backoff import is_set_aside
from shared.privacy.erasures import ask_to_erase

COUNTED = ("messages", "texts", "contacts", "inbound")
ERASURES = tables.erasure.c
OF_ACCOUNT: Select[Any] = select(
    *ERASURES["id", "counts", "created_at", "completed_at"],
    is_set_aside("erasure", ERASURES.id).label("set_aside"),
).where(ERASURES.account_id == bindparam("account"))
LIST = OF_ACCOUNT.where(ERASURES.id < bindparam("before")).order_by(ERASURES.id.desc()).limit(bindparam("limit"))
ONE = OF_ACCOUNT.where(ERASURES.id == bindparam("id"))


@endpoint(
    "POST", "/erasures", body=ErasureBody, response=ErasureResponse, errors=("erasure_limit",), scope="privacy:write"
)
def create_erasure(caller: Caller, connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Erase a person: the phone number in the account, texts sent to it alone, and messages received from it.

    Contacts with the number are removed from all groups. Scheduled messages to it are canceled; the others keep
    their status and cost. Until the erasure is complete, nothing is sent to the number. To stop messages for good, add
    it to the opt-outs: an opt-out remains in force after the erasure, as a hash of the number. An erasure takes up to a
    minute, or longer if messages to the number are being submitted or in doubt.
    """
    erasure = ask_to_erase(connection, caller.account_id, body["phone"])
    record(connection, by, "erasure.asked", account_id=caller.account_id, subject=erasure)
    return _erasure(_read(connection, caller, erasure))


@endpoint("GET", "/erasures", pages=newest_id(ErasureResponse), scope="privacy:write")
def list_erasures(caller: Caller, connection: Connection, before: UUID, limit: int) -> Any:
    """List the account's erasures, newest first."""
    rows = connection.execute(LIST, {"account": caller.account_id, "before": before, "limit": limit})
    return list(map(_erasure, rows))


@endpoint("GET", "/erasures/<uuid:erasure_id>", response=ErasureResponse, scope="privacy:write")
def get_erasure(caller: Caller, connection: Connection, erasure_id: UUID) -> Any:
    """Show one erasure: whether it is complete, and what has been erased."""
    return _erasure(_read(connection, caller, erasure_id))


def _read(connection: Connection, caller: Caller, erasure_id: UUID) -> Row[Any]:
    row = connection.execute(ONE, {"id": erasure_id, "account": caller.account_id}).one_or_none()
    if row is None:
        raise Problem("erasure_not_found", f"Your account has no erasure {erasure_id}.")
    return row


def _erasure(row: Row[Any]) -> dict[str, Any]:
    status = "completed" if row.completed_at else "failed" if row.set_aside else "pending"
    counts = {name: row.counts.get(name, 0) for name in COUNTED}
    return {**row._mapping, "status": status, "counts": counts}
