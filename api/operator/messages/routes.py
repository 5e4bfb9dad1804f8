"""Messages of all accounts: what became of one, for those who answer a customer's question."""

from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import json_response, operator_endpoint, replica_reads
from api.operator.messages.schemas import (
    OperatorMessageDetailResponse,
    OperatorMessagePaging,
    OperatorMessageResponse,
)
from api.problems import Problem
from api.resources.messages.paging import page_of_messages
from api.resources.messages.text import text_of_message
from api.resources.messages.timeline import history_of
from api.schemas.paging import page_of
from shared.messages.history import MessageRow, one_message
from shared.messages.representation import message_fields
from shared.sms.phones import mask


@operator_endpoint(
    "GET", "/messages", query=OperatorMessagePaging, response=page_of(OperatorMessageResponse), scope="read"
)
def list_all_messages(caller: Operator, query: dict[str, Any]) -> Any:
    """Search messages, newest send first: by account, send, phone number, reference, status and time.

    A page may have fewer messages than `limit`, or none, although later pages have some. Continue until `next_cursor`
    is null. A search is faster with `account_id`, or with `since` and `until`. Full phone numbers require
    the scope `texts`.
    """
    find = partial(page_of_messages, account=query.get("account_id"), query=query, send=query.get("send_id"))
    rows, cursor = replica_reads().read_before(query.get("until"), find)
    return json_response({"data": [_shown(caller, row) for row in rows], "next_cursor": cursor})


@operator_endpoint("GET", "/messages/<uuid:message_id>", response=OperatorMessageDetailResponse, scope="read")
def get_message(caller: Operator, connection: Connection, message_id: UUID) -> Any:
    """Show one message of any account with its attempts and timeline.

    Its text and full phone number require the scope `texts`.
    """
    row = one_message(connection, None, message_id)
    if row is None:
        raise Problem("not_found", f"There is no message {message_id}.")
    text = text_of_message(connection, row)._asdict()
    if "texts" not in caller.scopes:
        text |= {"text": None, "parts": []}
    return json_response(_shown(caller, row) | text | history_of(connection, row))


def _shown(caller: Operator, row: MessageRow) -> dict[str, Any]:
    shown = message_fields(row) | {"account_id": row.account_id}
    if "texts" not in caller.scopes and row.phone is not None:
        shown["phone"] = mask(row.phone)
    return shown
