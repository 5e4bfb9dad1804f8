"""Carriers: their state, pace, pauses, rate limits and test messages."""

from functools import partial
from typing import Any

from sqlalchemy import Connection

from api.act_once import transaction_of
from api.auth.operator_tokens import Operator
from api.endpoint import key_of_request, need_scope, operator_endpoint, services
from api.idempotency import IdempotentResponse
from api.operator.carriers.accept_test_message import accept_test_message
from api.operator.carriers.schemas import (
    CarrierChanges,
    CarrierResponse,
    NewTestMessage,
    RateLimitChange,
    RateLimitResponse,
    TestMessageResponse,
    UnreadableReceiptPaging,
    UnreadableReceiptResponse,
)
from api.operator.fields import WithOptionalReason, WithReason
from api.problems import Problem
from api.schemas.paging import list_of, newest_number
from shared.accounts.audit_log import Actor
from shared.carriers import control
from shared.carriers.control import SENDER, TEXT
from shared.db.connection import reading


@operator_endpoint("GET", "/carriers", response=list_of(CarrierResponse), scope="read")
def list_carriers(connection: Connection) -> Any:
    """List the carriers as the workers report them every second: state, rate, throttling, window, what waits."""
    return {"data": control.list_carriers(connection)}


@operator_endpoint("GET", "/carriers/<carrier>", response=CarrierResponse, scope="read")
def get_carrier(connection: Connection, carrier: str) -> Any:
    """Show one carrier."""
    return _carrier(connection, carrier)


@operator_endpoint("PATCH", "/carriers/<carrier>", body=CarrierChanges, response=CarrierResponse, scope="carriers")
def update_carrier(connection: Connection, by: Actor, carrier: str, body: dict[str, Any]) -> Any:
    """Change a carrier's rate or window. Workers follow within two seconds and drop no connection."""
    _carrier(connection, carrier)
    control.change(connection, carrier, body.get("rate"), body.get("window"), reason=body.get("reason"), by=by)
    return _carrier(connection, carrier)


@operator_endpoint(
    "POST", "/carriers/<carrier>/reset", body=WithOptionalReason, response=CarrierResponse, scope="carriers"
)
def reset_carrier(connection: Connection, by: Actor, carrier: str, body: dict[str, Any]) -> Any:
    """Use the rate and the window of CARRIERS_FILE again."""
    _carrier(connection, carrier)
    control.reset(connection, carrier, reason=body.get("reason"), by=by)
    return _carrier(connection, carrier)


@operator_endpoint("POST", "/carriers/<carrier>/pause", body=WithReason, response=CarrierResponse, scope="carriers")
def pause_carrier(connection: Connection, by: Actor, carrier: str, body: dict[str, Any]) -> Any:
    """Stop submitting to a carrier. Its messages take another route, or wait."""
    _carrier(connection, carrier)
    control.change(connection, carrier, paused=True, reason=body["reason"], by=by)
    return _carrier(connection, carrier)


@operator_endpoint(
    "POST", "/carriers/<carrier>/resume", body=WithOptionalReason, response=CarrierResponse, scope="carriers"
)
def resume_carrier(connection: Connection, by: Actor, carrier: str, body: dict[str, Any]) -> Any:
    """Resume a paused carrier."""
    _carrier(connection, carrier)
    control.change(connection, carrier, paused=False, reason=body.get("reason"), by=by)
    return _carrier(connection, carrier)


@operator_endpoint(
    "POST", "/carriers/<carrier>/test", body=NewTestMessage, response=TestMessageResponse, scope="carriers"
)
def send_test_message(caller: Operator, by: Actor, carrier: str, body: dict[str, Any]) -> IdempotentResponse:
    """Send one real message through one carrier. GET /operator/v1/sends/{send_id} shows what became of it.

    It is accepted, paid for and sent like any other; only the choice of the carrier is skipped. The account
    `carrier-test` pays for it. It is created, and topped up, when needed. Another `sender_id` or `message` than the
    default also needs the scopes `senders` and `money`.
    """
    if (body["sender_id"], body["message"]) != (SENDER, TEXT):
        need_scope(caller, "senders")
        need_scope(caller, "money")
    key = key_of_request(caller, body)
    with reading(services().engine) as connection:
        _carrier(connection, carrier)
    return accept_test_message(services(), carrier, body, key, by=by, begin=partial(transaction_of, caller))


@operator_endpoint("GET", "/carrier-limits", response=list_of(RateLimitResponse), scope="read")
def list_carrier_limits(connection: Connection) -> Any:
    """List the rate limits of sender IDs and prefixes, as declared in `[[limits]]` of CARRIERS_FILE."""
    return {"data": control.list_limits(connection)}


@operator_endpoint(
    "PATCH", "/carrier-limits/<limit_name>", body=RateLimitChange, response=RateLimitResponse, scope="carriers"
)
def update_carrier_limit(connection: Connection, by: Actor, limit_name: str, body: dict[str, Any]) -> Any:
    """Change a rate limit by its name, such as `sender ACME`; null means the rate of CARRIERS_FILE, and 0 lifts it."""
    _rate_limit(connection, limit_name)
    control.change_limit(connection, limit_name, body["rate"], reason=body.get("reason"), by=by)
    return _rate_limit(connection, limit_name)


@operator_endpoint(
    "GET",
    "/unreadable-receipts",
    query=UnreadableReceiptPaging,
    pages=newest_number(UnreadableReceiptResponse),
    scope="texts",
)
def list_unreadable_receipts(connection: Connection, query: dict[str, Any], before: int, limit: int) -> Any:
    """List the newest receipts that could not be parsed, as received. They may contain phone numbers."""
    return control.unreadable_receipts(connection, query.get("carrier"), limit, before)


def _carrier(connection: Connection, name: str) -> Any:
    found = next((row for row in control.list_carriers(connection) if row["carrier"] == name), None)
    if found is None:
        raise Problem("not_found", f"No running worker reports a carrier {name[:40]!r}.")
    return found


def _rate_limit(connection: Connection, name: str) -> Any:
    found = next((row for row in control.list_limits(connection) if row["limit"] == name), None)
    if found is None:
        raise Problem("not_found", f"There is no rate limit {name[:40]!r} of a sender ID or a prefix.")
    return found
