"""Inbound messages to numbers that belong to no account: list and assign them."""

from typing import Any

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, uuid_cursor
from api.idempotency import IdempotentResponse
from api.operator.audited_change import act_once, need_account
from api.operator.inbound.schemas import (
    AssignedResponse,
    Assignment,
    NumberQuery,
    NumberResponse,
    UnassignedPaging,
    UnassignedResponse,
)
from api.schemas.paging import list_of, page_of
from shared.accounts.audit_log import Actor
from shared.inbound import unassigned
from shared.sms.phones import mask


@operator_endpoint("GET", "/inbound", query=UnassignedPaging, response=page_of(UnassignedResponse), scope="read")
def list_unassigned_inbound(caller: Operator, query: dict[str, Any]) -> Any:
    """List the inbound messages of no account, newest first. Texts and full phone numbers need the scope `texts`."""
    limit, whole = query["limit"], "texts" in caller.scopes
    with reading_list(services().engine) as connection:
        rows = unassigned.list_unassigned(
            connection,
            sent_to=query.get("sent_to"),
            before=uuid_cursor(query.get("cursor")),
            limit=limit + 1,
            texts=whole,
        )

    def entry(row: dict[str, Any]) -> Any:
        return row if whole else {**row, "phone": mask(row["phone"])}

    return page(rows, limit, lambda row: str(row["id"]), item=entry)


@operator_endpoint("GET", "/inbound/numbers", query=NumberQuery, response=list_of(NumberResponse), scope="read")
def list_unassigned_inbound_numbers(caller: Operator, query: dict[str, Any]) -> Any:
    """Count the inbound messages of no account by the number that they were sent to, most messages first."""
    with reading_list(services().engine) as connection:
        return {"data": unassigned.list_unassigned_numbers(connection, query["limit"])}


@operator_endpoint(
    "POST", "/inbound/assign", body=Assignment, response=AssignedResponse, errors=("not_found",), scope="senders"
)
def assign_inbound(caller: Operator, body: dict[str, Any]) -> IdempotentResponse:
    """Give an account the messages to a number that it has as an approved sender ID, at most 5,000 at a time.

    They become events of the account, oldest first, and STOP and START take effect.
    """

    def assign(connection: Connection, by: Actor) -> Any:
        need_account(connection, body["account_id"])
        result = unassigned.assign_inbound(connection, body["sent_to"], body["account_id"], body.get("reason"), by=by)
        return {**body, "messages": result.messages, "more": result.more}

    return act_once(caller, body, assign)
