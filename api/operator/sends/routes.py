"""Sends of all accounts: show, hold, release and cancel them."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, uuid_cursor
from api.idempotency import IdempotentResponse
from api.operator.audited_change import act_once
from api.operator.fields import WithOptionalReason, WithReason
from api.operator.sends.schemas import OperatorSendPaging, OperatorSendResponse, SendDetailsResponse
from api.problems import Problem
from api.resources.sends import control
from api.schemas.paging import page_of
from shared.accounts.audit_log import Actor, record
from shared.db.connection import reading
from shared.ids import LAST_ID
from shared.lifecycle import STORED_STATUSES
from shared.sends import holding, overview


@operator_endpoint("GET", "/sends", query=OperatorSendPaging, response=page_of(OperatorSendResponse), scope="read")
def list_sends(caller: Operator, query: dict[str, Any]) -> Any:
    """List sends of one account or all, newest first, without their texts."""
    limit = query["limit"]
    with reading_list(services().engine) as connection:
        rows = overview.list_sends(
            connection,
            account_id=query.get("account_id"),
            open_only=query["open"],
            state=query.get("status"),
            before=uuid_cursor(query.get("cursor")) or LAST_ID,
            limit=limit + 1,
        )
    return page(rows, limit, lambda row: str(row["id"]), item=_counted)


@operator_endpoint("GET", "/sends/<uuid:send_id>", response=SendDetailsResponse, scope="read")
def get_send(caller: Operator, send_id: UUID) -> Any:
    """Show one send of any account: its counts, and what holds it."""
    with reading(services().engine) as connection:
        return _send(connection, send_id)


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/hold", body=WithReason, response=SendDetailsResponse, scope="accounts"
)
def hold_send(caller: Operator, send_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Hold a send until it is released. Its owner sees the reason and can cancel it, but not resume it."""
    return _control(
        caller, send_id, body, lambda connection, by: holding.hold(connection, send_id, body["reason"], by=by)
    )


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/release", body=WithOptionalReason, response=SendDetailsResponse, scope="accounts"
)
def release_send(caller: Operator, send_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Release a held send, whatever holds it. Refused while its sender ID is suspended or rejected."""
    return _control(caller, send_id, body, lambda connection, by: holding.release(connection, send_id, by=by))


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/cancel", body=WithReason, response=SendDetailsResponse, scope="accounts"
)
def cancel_send(caller: Operator, send_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Cancel what is left of a send and release its credits. Messages already with a carrier are not recalled."""

    def cancel(connection: Connection, by: Actor) -> None:
        control.cancel(connection, send_id)
        account = _send(connection, send_id)["account_id"]
        record(connection, by, "send.canceled", account_id=account, subject=send_id, reason=body["reason"])

    return _control(caller, send_id, body, cancel)


def _control(
    caller: Operator, send_id: UUID, body: dict[str, Any], change: Callable[[Connection, Actor], None]
) -> IdempotentResponse:
    def control_send(connection: Connection, by: Actor) -> Any:
        _send(connection, send_id)
        change(connection, by)
        return _send(connection, send_id)

    return act_once(caller, body, control_send)


def _send(connection: Connection, send_id: UUID) -> dict[str, Any]:
    row = overview.show_send(connection, send_id)
    if row is None:
        raise Problem("not_found", f"There is no send {send_id}.")
    return _counted(row)


def _counted(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "counts": {str(status): row[status] for status in STORED_STATUSES}}
