"""Erase a person's data."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, Select, bindparam, select

from api.act_once import act_once
from api.actor import by_caller
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, uuid_cursor
from api.idempotency import IdempotentResponse
from api.problems import Problem
from api.resources.privacy.schemas import ErasureBody, ErasureResponse
from api.schemas.paging import Paging, page_of
from shared.accounts.audit_log import record
from shared.db.connection import reading
from shared.db.tables import messages as tables
from shared.ids import LAST_ID
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
def create_erasure(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Erase a person: the phone number in the account, texts sent to it alone, and messages received from it.

    Contacts with the number are removed from all groups; messages keep their status and cost. Until the
    erasure is complete, nothing is sent to the number. To stop messages for good, add it to the opt-outs: an opt-out
    remains in force after the erasure, as a hash of the number. An erasure takes up to a minute, or longer if messages
    to the number are being submitted or in doubt.
    """

    def act(connection: Connection) -> dict[str, Any]:
        erasure = ask_to_erase(connection, caller.account_id, body["phone"])
        record(connection, by_caller(caller), "erasure.asked", account_id=caller.account_id, subject=erasure)
        return _erasure(_read(connection, caller, erasure))

    return act_once(caller, body, act)


@endpoint("GET", "/erasures", query=Paging, response=page_of(ErasureResponse), scope="privacy:write")
def list_erasures(caller: Caller, query: dict[str, Any]) -> Any:
    """List the account's erasures, newest first."""
    parameters = {
        "account": caller.account_id,
        "before": uuid_cursor(query.get("cursor")) or LAST_ID,
        "limit": query["limit"] + 1,
    }
    with reading_list(services().engine) as connection:
        rows = connection.execute(LIST, parameters).all()
    return page(rows, query["limit"], lambda row: str(row.id), item=_erasure)


@endpoint("GET", "/erasures/<uuid:erasure_id>", response=ErasureResponse, scope="privacy:write")
def get_erasure(caller: Caller, erasure_id: UUID) -> Any:
    """Show one erasure: whether it is complete, and what has been erased."""
    with reading(services().engine) as connection:
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
