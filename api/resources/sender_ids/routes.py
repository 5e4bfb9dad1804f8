"""Sender IDs: an account requests one, and the operator approves or rejects it."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, bindparam, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.http.bounded_queries import filtered_page
from api.problems import Problem
from api.resources.sender_ids.schemas import DeletedResponse, SenderPaging, SenderRequest, SenderResponse
from api.schemas.paging import by_id
from shared.accounts.audit_log import Actor
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables import accounts as tables
from shared.senders.sender_ids import (
    check_number,
    decide_sender,
    form_of,
    remove_sender,
    request_sender,
)

SENDER_ID = tables.sender_id.c
FIELDS = (*SENDER_ID["id", "sender_id", "state", "reason", "use_case", "created_at", "decided_at"],)
OF_ACCOUNT = SENDER_ID.account_id == bindparam("account")
BY_NAME = select(*FIELDS).where(OF_ACCOUNT, SENDER_ID.sender_id == bindparam("sender"))
BY_ID = select(SENDER_ID.sender_id, SENDER_ID.state).where(OF_ACCOUNT, SENDER_ID.id == bindparam("id"))


@endpoint("GET", "/sender-ids", query=SenderPaging, pages=by_id(SenderResponse), scope="senders:read")
def list_sender_ids(caller: Caller, connection: Connection, query: dict[str, Any], after: UUID, limit: int) -> Any:
    """List the account's sender IDs and their status."""
    listed = select(*FIELDS).where(SENDER_ID.account_id == caller.account_id, SENDER_ID.id > after)
    filters = []
    if "status" in query:
        filters.append(SENDER_ID.state == query["status"])
    if "search" in query:
        filters.append(SENDER_ID.sender_id.icontains(query["search"], autoescape=True))
    rows, end = filtered_page(connection, listed, [SENDER_ID.id], filters, limit)
    return list(map(_sender, rows)), end


@endpoint(
    "POST",
    "/sender-ids",
    body=SenderRequest,
    response=SenderResponse,
    errors=("sender_limit",),
    scope="senders:write",
)
def request_sender_id(caller: Caller, connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Request a sender ID, or request a rejected one again.

    The operator decides; in a sandbox it is approved at once. If it was requested before, the response shows its
    current status.
    """
    name = body["sender_id"]
    one_at_a_time(connection, "senders", caller.account_id)
    new = request_sender(connection, caller.account_id, name, body.get("use_case"), by=by)
    if new and caller.test:
        decide_sender(connection, caller.account_id, name, "approved", by=by)
    if new:
        check_number(connection, caller.account_id)
    return _sender(connection.execute(BY_NAME, {"account": caller.account_id, "sender": name}).one())


@endpoint(
    "DELETE", "/sender-ids/<uuid:sender>", response=DeletedResponse, errors=("state_conflict",), scope="senders:write"
)
def delete_sender_id(caller: Caller, connection: Connection, by: Actor, sender: UUID) -> Any:
    """Delete a sender ID. Sends already accepted continue; a suspended sender ID cannot be deleted."""
    if not remove_sender(connection, caller.account_id, sender, by=by):
        row = connection.execute(BY_ID, {"account": caller.account_id, "id": sender}).one_or_none()
        if row is None:
            raise Problem("sender_not_found", f"Your account has no sender ID with the id {sender}.")
        detail = f"The sender ID {row.sender_id!r} is {row.state} and cannot be deleted."
        raise Problem("state_conflict", detail, sender_status=row.state)
    return {"deleted": True}


def _sender(row: Any) -> dict[str, Any]:
    return {**row._mapping, "form": form_of(row.sender_id)}
