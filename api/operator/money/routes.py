"""Top-ups, their reversals, adjustments, refunds, and statements."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import key_of_request, operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.idempotency import IdempotentResponse
from api.operator.audited_change import act_once, need_account
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
from api.schemas.paging import Paging, list_of, page_of
from shared.accounts import overview, top_ups
from shared.accounts.audit_log import Actor
from shared.accounts.refunds import refund_message, refund_send
from shared.ids import LAST_NUMBER
from shared.statements import read_statements


@operator_endpoint(
    "GET", "/accounts/<int:account_id>/top-ups", query=Paging, response=page_of(TopUpResponse), scope="read"
)
def list_top_ups(caller: Operator, account_id: int, query: dict[str, Any]) -> Any:
    """List an account's top-ups, newest first, with what was reversed."""
    before, limit = number_cursor(query.get("cursor"), LAST_NUMBER), query["limit"]
    with reading_list(services().engine) as connection:
        need_account(connection, account_id)
        rows = overview.list_top_ups(connection, account_id, before=before, limit=limit + 1)
    return page(rows, limit, lambda row: str(row["position"]))


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/top-ups", body=NewTopUp, response=ToppedUpResponse, scope="money"
)
def create_top_up(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Add credits to an account. Give each top-up an `Idempotency-Key`, such as the number of the payment.

    The key stays with the top-up for good: repeated after any time, it adds nothing.
    """
    return _post(caller, account_id, body, top_ups.top_up)


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/top-ups/<uuid:top_up_id>/reverse",
    body=NewReversal,
    response=ReversalResponse,
    scope="money",
)
def reverse_top_up(caller: Operator, account_id: int, top_up_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Reverse credits of a mistaken top-up, once. Only available credits can be reversed."""

    def reverse(connection: Connection, by: Actor) -> Any:
        result = top_ups.reverse_top_up(connection, account_id, str(top_up_id), body["credits"], body["reason"], by=by)
        return {**result._asdict(), "reversed": body["credits"]}

    return _change(caller, account_id, body, reverse)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/adjustments", body=NewAdjustment, response=AdjustedResponse, scope="money"
)
def create_adjustment(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Add credits to an account, or take them with a number below 0, such as a correction. Send an `Idempotency-Key`.

    Like that of a top-up, the key stays for good. At most the balance can be taken: to let the account owe more, raise
    its credit limit first. The account sees the reason.
    """
    return _post(caller, account_id, body, top_ups.adjust)


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/sends/<uuid:send_id>/refund",
    body=WithReason,
    response=RefundResponse,
    scope="money",
)
def refund_account_send(caller: Operator, account_id: int, send_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Refund what was charged for a send and was not refunded before."""

    def refund(connection: Connection, by: Actor) -> Any:
        return refund_send(connection, account_id, send_id, body["reason"], by=by)._asdict()

    return _change(caller, account_id, body, refund)


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/messages/<uuid:message_id>/refund",
    body=WithReason,
    response=RefundResponse,
    scope="money",
)
def refund_account_message(
    caller: Operator, account_id: int, message_id: UUID, body: dict[str, Any]
) -> IdempotentResponse:
    """Refund a message that was charged, once. Refused if its send was refunded before."""

    def refund(connection: Connection, by: Actor) -> Any:
        return refund_message(connection, account_id, message_id, body["reason"], by=by)._asdict()

    return _change(caller, account_id, body, refund)


@operator_endpoint(
    "GET", "/accounts/<int:account_id>/statements", response=list_of(StatementSummaryResponse), scope="read"
)
def list_account_statements(caller: Operator, account_id: int) -> Any:
    """List the months of an account, newest first: what moved its balance, by the time of posting."""
    with reading_list(services().engine) as connection:
        need_account(connection, account_id)
        return {"data": [each.as_dict() for each in read_statements(connection, account_id)]}


@operator_endpoint("GET", "/accounts/<int:account_id>/statements/<month>", response=StatementResponse, scope="read")
def get_account_statement(caller: Operator, account_id: int, month: str) -> Any:
    """Show a month of an account. With `Accept: text/csv`, it is a CSV file."""
    with reading_list(services().engine) as connection:
        need_account(connection, account_id)
        return show_statement(connection, account_id, month, "not_found")


def _post(
    caller: Operator, account_id: int, body: dict[str, Any], post: Callable[..., top_ups.Posted]
) -> IdempotentResponse:
    """Post a top-up or an adjustment, which keeps its key for good."""
    key = key_of_request(caller, body)
    once_key = str(uuid4()) if key is None else f"operator {key.key}"

    def change(connection: Connection, by: Actor) -> Any:
        posted = post(connection, account_id, body["credits"], body["reason"], once_key, by=by)
        return {**posted._asdict(), "credits": body["credits"]}

    return _change(caller, account_id, body, change)


def _change(
    caller: Operator, account_id: int, body: dict[str, Any], change: Callable[[Connection, Actor], Any]
) -> IdempotentResponse:
    """Change a live account, once for the request's key."""

    def of_account(connection: Connection, by: Actor) -> Any:
        need_account(connection, account_id)
        return {"account_id": account_id, **change(connection, by)}

    return act_once(caller, body, of_account)
