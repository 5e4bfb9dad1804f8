"""Sender IDs: the queue of requests, and the decisions on them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.act_once import need_account
from api.endpoint import operator_endpoint
from api.http.pagination import bad_cursor, list_cursor, page
from api.operator.fields import WithOptionalReason, WithReason
from api.operator.senders.schemas import NewSenderId, SenderIdChanges, SenderIdPaging, SenderIdResponse
from api.problems import Problem
from api.schemas.paging import page_of
from shared.accounts.audit_log import Actor
from shared.ids import LAST_NUMBER
from shared.senders import requests
from shared.senders.sender_ids import Decision, allow_authentication_from, decide_sender, request_sender


@operator_endpoint("GET", "/sender-ids", query=SenderIdPaging, response=page_of(SenderIdResponse), scope="read")
def list_sender_ids(connection: Connection, query: dict[str, Any]) -> Any:
    """List sender IDs by account and name, each with similar ones of other accounts. `status=pending` is the queue."""
    account_id, state, limit = query.get("account_id"), query.get("status"), query["limit"]
    after = _position(query.get("cursor"))
    rows = requests.list_sender_ids(connection, account_id=account_id, state=state, after=after, limit=limit + 1)
    return page(rows, limit, lambda row: f'["{row["account_id"]}","{row["sender_id"]}"]')


@operator_endpoint(
    "POST", "/sender-ids", body=NewSenderId, response=SenderIdResponse, errors=("not_found",), scope="senders"
)
def request_sender_id(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Request a sender ID on behalf of an account; approve it with another call."""
    account_id, name = body["account_id"], body["sender_id"]
    need_account(connection, account_id)
    request_sender(connection, account_id, name, body.get("use_case"), by=by)
    return requests.find_sender_id(connection, account_id, name)


@operator_endpoint("GET", "/sender-ids/<uuid:sender>", response=SenderIdResponse, scope="read")
def get_sender_id(connection: Connection, sender: UUID) -> Any:
    """Show one sender ID, with similar ones of other accounts."""
    return _sender(connection, sender)


@operator_endpoint(
    "POST", "/sender-ids/<uuid:sender>/approve", body=WithOptionalReason, response=SenderIdResponse, scope="senders"
)
def approve_sender_id(connection: Connection, by: Actor, sender: UUID, body: dict[str, Any]) -> Any:
    """Approve a sender ID, and release the sends that were held because of it.

    Refused if it is approved for another account, ignoring upper and lower case: nobody may send under another's
    name.
    """
    return _decide(connection, by, sender, body, "approved")


@operator_endpoint(
    "POST", "/sender-ids/<uuid:sender>/reject", body=WithReason, response=SenderIdResponse, scope="senders"
)
def reject_sender_id(connection: Connection, by: Actor, sender: UUID, body: dict[str, Any]) -> Any:
    """Reject a sender ID; the account sees the reason. Open sends from it are held."""
    return _decide(connection, by, sender, body, "rejected")


@operator_endpoint(
    "POST", "/sender-ids/<uuid:sender>/suspend", body=WithReason, response=SenderIdResponse, scope="senders"
)
def suspend_sender_id(connection: Connection, by: Actor, sender: UUID, body: dict[str, Any]) -> Any:
    """Suspend a sender ID; the account sees the reason. Open sends from it are held until it is approved again."""
    return _decide(connection, by, sender, body, "suspended")


@operator_endpoint(
    "PATCH", "/sender-ids/<uuid:sender>", body=SenderIdChanges, response=SenderIdResponse, scope="senders"
)
def update_sender_id(connection: Connection, by: Actor, sender: UUID, body: dict[str, Any]) -> Any:
    """Allow or forbid the category `authentication` for one sender ID, regardless of the account's setting."""
    row = _sender(connection, sender)
    allow_authentication_from(connection, row["account_id"], row["sender_id"], body["authentication"], by=by)
    return _sender(connection, sender)


def _decide(connection: Connection, by: Actor, sender: UUID, body: dict[str, Any], decision: Decision) -> Any:
    row = _sender(connection, sender)
    decide_sender(connection, row["account_id"], row["sender_id"], decision, body.get("reason"), by=by)
    return _sender(connection, sender)


def _sender(connection: Connection, sender: UUID) -> dict[str, Any]:
    row = requests.show_sender_id(connection, sender)
    if row is None:
        raise Problem("not_found", f"There is no sender ID {sender}. List them with GET /operator/v1/sender-ids.")
    return row


def _position(cursor: str | None) -> tuple[int, str]:
    """The account and the name at which a page begins."""
    account_id, name = list_cursor(cursor, 2) or ("0", "")
    if not (account_id.isascii() and account_id.isdigit()) or int(account_id) > LAST_NUMBER:
        raise bad_cursor()
    return int(account_id), name
