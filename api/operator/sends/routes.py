"""Sends of all accounts: show, hold, release and cancel them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.endpoint import operator_endpoint
from api.operator.fields import WithOptionalReason, WithReason
from api.operator.sends.schemas import OperatorSendPaging, OperatorSendResponse, SendDetailsResponse
from api.problems import Problem
from api.resources.sends import control
from api.schemas.paging import newest_id
from shared.accounts.audit_log import Actor, record
from shared.lifecycle import STORED_STATUSES
from shared.sends import holding, overview


@operator_endpoint("GET", "/sends", query=OperatorSendPaging, pages=newest_id(OperatorSendResponse), scope="read")
def list_sends(connection: Connection, query: dict[str, Any], before: UUID, limit: int) -> Any:
    """List sends of one account or all, newest first, without their texts."""
    of = {"account_id": query.get("account_id"), "open_only": query["open"], "state": query.get("status")}
    return list(map(_counted, overview.list_sends(connection, **of, before=before, limit=limit)))


@operator_endpoint("GET", "/sends/<uuid:send_id>", response=SendDetailsResponse, scope="read")
def get_send(connection: Connection, send_id: UUID) -> Any:
    """Show one send of any account: its counts, and what holds it."""
    return _send(connection, send_id)


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/hold", body=WithReason, response=SendDetailsResponse, scope="accounts"
)
def hold_send(connection: Connection, by: Actor, send_id: UUID, body: dict[str, Any]) -> Any:
    """Hold a send until it is released. Its owner sees the reason and can cancel it, but not resume it."""
    _send(connection, send_id)
    holding.hold(connection, send_id, body["reason"], by=by)
    return _send(connection, send_id)


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/release", body=WithOptionalReason, response=SendDetailsResponse, scope="accounts"
)
def release_send(connection: Connection, by: Actor, send_id: UUID, body: dict[str, Any]) -> Any:
    """Release a held send, whatever holds it. If its own rule does, that ends.

    Refused while its sender ID is suspended, rejected or pending.
    """
    _send(connection, send_id)
    holding.release(connection, send_id, body.get("reason"), by=by)
    return _send(connection, send_id)


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/cancel", body=WithReason, response=SendDetailsResponse, scope="accounts"
)
def cancel_send(connection: Connection, by: Actor, send_id: UUID, body: dict[str, Any]) -> Any:
    """Cancel what is left of a send and release its credits. Messages already with a carrier are not recalled."""
    account = _send(connection, send_id)["account_id"]
    control.cancel(connection, send_id)
    record(connection, by, "send.canceled", account_id=account, subject=send_id, reason=body["reason"])
    return _send(connection, send_id)


def _send(connection: Connection, send_id: UUID) -> dict[str, Any]:
    row = overview.show_send(connection, send_id)
    if row is None:
        raise Problem("not_found", f"There is no send {send_id}.")
    return _counted(row)


def _counted(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "counts": {str(status): row[status] for status in STORED_STATUSES}}
