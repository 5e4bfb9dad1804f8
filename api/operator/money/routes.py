"""Top-ups, their reversals, adjustments, refunds, and statements."""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import key_of_request, operator_endpoint
from api.operator.fields import WithReason
from api.operator.money.schemas import (
    AdjustedResponse,
    NewAdjustment,
    NewReversal,
    NewTopUp,
    RefundResponse,
    ReversalResponse,
    ToppedUpResponse,
    TopUpResponse,
)
from api.resources.statements.routes import show_statement
from api.resources.statements.schemas import StatementResponse, StatementSummaryResponse
from api.schemas.paging import list_of, newest_number
from shared.accounts import overview, top_ups
from shared.accounts.audit_log import Actor
from shared.accounts.refunds import refund_message, refund_send
from shared.statements import read_statements


@operator_endpoint(
    "GET", "/accounts/<int:account_id>/top-ups", pages=newest_number(TopUpResponse, "position"), scope="read"
)
def list_top_ups(connection: Connection, account_id: int, before: int, limit: int) -> Any:
    """List an account's top-ups, newest first, with what was reversed."""
    return overview.list_top_ups(connection, account_id, before=before, limit=limit)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/top-ups", body=NewTopUp, response=ToppedUpResponse, scope="money"
)
def create_top_up(caller: Operator, connection: Connection, by: Actor, account_id: int, body: dict[str, Any]) -> Any:
    """Add credits to an account. Give each top-up an `Idempotency-Key`, such as the number of the payment.

    The key stays with the top-up for good: repeated after any time, it adds nothing.
    """
    posted = top_ups.top_up(connection, account_id, body["credits"], body["reason"], _kept_key(caller, body), by=by)
    return {**posted._asdict(), "account_id": account_id, "credits": body["credits"]}


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/top-ups/<uuid:top_up_id>/reverse",
    body=NewReversal,
    response=ReversalResponse,
    scope="money",
)
def reverse_top_up(connection: Connection, by: Actor, account_id: int, top_up_id: UUID, body: dict[str, Any]) -> Any:
    """Reverse credits of a mistaken top-up, once. Only available credits can be reversed."""
    result = top_ups.reverse_top_up(connection, account_id, str(top_up_id), body["credits"], body["reason"], by=by)
    return {**result._asdict(), "account_id": account_id, "reversed": body["credits"]}


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/adjustments", body=NewAdjustment, response=AdjustedResponse, scope="money"
)
def create_adjustment(
    caller: Operator, connection: Connection, by: Actor, account_id: int, body: dict[str, Any]
) -> Any:
    """Add credits to an account, or take them with a number below 0, such as a correction. Send an `Idempotency-Key`.

    Like that of a top-up, the key stays for good. At most the balance can be taken: to let the account owe more, raise
    its credit limit first. The account sees the reason.
    """
    posted = top_ups.adjust(connection, account_id, body["credits"], body["reason"], _kept_key(caller, body), by=by)
    return {**posted._asdict(), "account_id": account_id, "credits": body["credits"]}


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/sends/<uuid:send_id>/refund",
    body=WithReason,
    response=RefundResponse,
    scope="money",
)
def refund_account_send(connection: Connection, by: Actor, account_id: int, send_id: UUID, body: dict[str, Any]) -> Any:
    """Refund what was charged for a send and was not refunded before."""
    refunded = refund_send(connection, account_id, send_id, body["reason"], by=by)
    return {**refunded._asdict(), "account_id": account_id}


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/messages/<uuid:message_id>/refund",
    body=WithReason,
    response=RefundResponse,
    scope="money",
)
def refund_account_message(
    connection: Connection, by: Actor, account_id: int, message_id: UUID, body: dict[str, Any]
) -> Any:
    """Refund a message that was charged, once. Refused if its send was refunded before."""
    refunded = refund_message(connection, account_id, message_id, body["reason"], by=by)
    return {**refunded._asdict(), "account_id": account_id}


@operator_endpoint(
    "GET", "/accounts/<int:account_id>/statements", response=list_of(StatementSummaryResponse), scope="read"
)
def list_account_statements(connection: Connection, account_id: int) -> Any:
    """List the months of an account, newest first: what moved its balance, by the time of posting."""
    return {"data": [each.as_dict() for each in read_statements(connection, account_id)]}


@operator_endpoint("GET", "/accounts/<int:account_id>/statements/<month>", response=StatementResponse, scope="read")
def get_account_statement(connection: Connection, account_id: int, month: str) -> Any:
    """Show a month of an account. With `Accept: text/csv`, it is a CSV file."""
    return show_statement(connection, account_id, month, "not_found")


def _kept_key(caller: Operator, body: dict[str, Any]) -> str:
    """The key that a top-up or an adjustment keeps for good."""
    key = key_of_request(caller, body)
    return str(uuid4()) if key is None else f"operator {key.key}"
