"""Inbound messages to numbers that belong to no account: list and assign them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.act_once import need_account
from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint
from api.operator.inbound.schemas import (
    AssignedResponse,
    Assignment,
    NumberQuery,
    NumberResponse,
    UnassignedPaging,
    UnassignedResponse,
)
from api.schemas.paging import list_of, newest_id
from shared.accounts.audit_log import Actor
from shared.inbound import unassigned
from shared.sms.phones import mask


@operator_endpoint("GET", "/inbound", query=UnassignedPaging, pages=newest_id(UnassignedResponse), scope="read")
def list_unassigned_inbound(
    caller: Operator, connection: Connection, query: dict[str, Any], before: UUID, limit: int
) -> Any:
    """List the inbound messages of no account, newest first. Texts and full phone numbers need the scope `texts`."""
    sent_to, whole = query.get("sent_to"), "texts" in caller.scopes
    rows = unassigned.list_unassigned(connection, sent_to=sent_to, before=before, limit=limit, texts=whole)
    return rows if whole else [{**row, "phone": mask(row["phone"])} for row in rows]


@operator_endpoint("GET", "/inbound/numbers", query=NumberQuery, response=list_of(NumberResponse), scope="read")
def list_unassigned_inbound_numbers(connection: Connection, query: dict[str, Any]) -> Any:
    """Count the inbound messages of no account by the number that they were sent to, most messages first."""
    return {"data": unassigned.list_unassigned_numbers(connection, query["limit"])}


@operator_endpoint(
    "POST", "/inbound/assign", body=Assignment, response=AssignedResponse, errors=("not_found",), scope="senders"
)
def assign_inbound(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Give an account the messages to a number that it has as an approved sender ID, at most 5,000 at a time.

    They become events of the account, oldest first, and STOP and START take effect.
    """
    need_account(connection, body["account_id"])
    result = unassigned.assign_inbound(connection, body["sent_to"], body["account_id"], body.get("reason"), by=by)
    return {**body, "messages": result.messages, "more": result.more}
