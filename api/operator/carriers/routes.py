"""Carriers: their state, pace, pauses, rate limits and test messages."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import Connection

from api.actor import by_caller
from api.auth.operator_tokens import Operator
from api.endpoint import key_of_request, operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.idempotency import IdempotentResponse
from api.operator.audited_change import act, act_once, operator_transaction
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
from api.schemas.paging import list_of, page_of
from shared.accounts.audit_log import Actor
from shared.carriers import control
from shared.db.connection import reading
from shared.ids import LAST_NUMBER


@operator_endpoint("GET", "/carriers", response=list_of(CarrierResponse), scope="read")
def list_carriers(caller: Operator) -> Any:
    """List the carriers as the workers report them every second: state, rate, throttling, window, what waits."""
    with reading(services().engine) as connection:
        return {"data": control.list_carriers(connection)}


@operator_endpoint("GET", "/carriers/<carrier>", response=CarrierResponse, scope="read")
def get_carrier(caller: Operator, carrier: str) -> Any:
    """Show one carrier."""
    with reading(services().engine) as connection:
        return _carrier(connection, carrier)


@operator_endpoint("PATCH", "/carriers/<carrier>", body=CarrierChanges, response=CarrierResponse, scope="carriers")
def update_carrier(caller: Operator, carrier: str, body: dict[str, Any]) -> Any:
    """Change a carrier's rate or window. Workers follow within two seconds and drop no connection."""

    def change(connection: Connection, by: Actor) -> Any:
        _carrier(connection, carrier)
        control.change(connection, carrier, body.get("rate"), body.get("window"), reason=body.get("reason"), by=by)
        return _carrier(connection, carrier)

    return act(caller, change)


@operator_endpoint(
    "POST", "/carriers/<carrier>/reset", body=WithOptionalReason, response=CarrierResponse, scope="carriers"
)
def reset_carrier(caller: Operator, carrier: str, body: dict[str, Any]) -> IdempotentResponse:
    """Use the rate and the window of CARRIERS_FILE again."""
    return _control(caller, carrier, body, control.reset)


@operator_endpoint("POST", "/carriers/<carrier>/pause", body=WithReason, response=CarrierResponse, scope="carriers")
def pause_carrier(caller: Operator, carrier: str, body: dict[str, Any]) -> IdempotentResponse:
    """Stop submitting to a carrier. Its messages take another route, or wait."""
    return _control(caller, carrier, body, partial(control.change, paused=True))


@operator_endpoint(
    "POST", "/carriers/<carrier>/resume", body=WithOptionalReason, response=CarrierResponse, scope="carriers"
)
def resume_carrier(caller: Operator, carrier: str, body: dict[str, Any]) -> IdempotentResponse:
    """Resume a paused carrier."""
    return _control(caller, carrier, body, partial(control.change, paused=False))


@operator_endpoint(
    "POST", "/carriers/<carrier>/test", body=NewTestMessage, response=TestMessageResponse, scope="carriers"
)
def send_test_message(caller: Operator, carrier: str, body: dict[str, Any]) -> IdempotentResponse:
    """Send one real message through one carrier. GET /operator/v1/sends/{send_id} shows what became of it.

    It is accepted, paid for and sent like any other; only the choice of the carrier is skipped. The account
    `carrier-test` pays for it. It is created, and topped up, when needed.
    """
    key = key_of_request(caller, body)
    with reading(services().engine) as connection:
        _carrier(connection, carrier)
    begin = partial(operator_transaction, caller)
    return accept_test_message(services(), carrier, body, key, by=by_caller(caller), begin=begin)


@operator_endpoint("GET", "/carrier-limits", response=list_of(RateLimitResponse), scope="read")
def list_carrier_limits(caller: Operator) -> Any:
    """List the rate limits of sender IDs and prefixes, as declared in `[[limits]]` of CARRIERS_FILE."""
    with reading(services().engine) as connection:
        return {"data": control.list_limits(connection)}


@operator_endpoint(
    "PATCH", "/carrier-limits/<limit_name>", body=RateLimitChange, response=RateLimitResponse, scope="carriers"
)
def update_carrier_limit(caller: Operator, limit_name: str, body: dict[str, Any]) -> Any:
    """Change a rate limit by its name, such as `sender ACME`; null means the rate of CARRIERS_FILE, and 0 lifts it."""

    def change(connection: Connection, by: Actor) -> Any:
        _rate_limit(connection, limit_name)
        control.change_limit(connection, limit_name, body["rate"], reason=body.get("reason"), by=by)
        return _rate_limit(connection, limit_name)

    return act(caller, change)


@operator_endpoint(
    "GET",
    "/unreadable-receipts",
    query=UnreadableReceiptPaging,
    response=page_of(UnreadableReceiptResponse),
    scope="texts",
)
def list_unreadable_receipts(caller: Operator, query: dict[str, Any]) -> Any:
    """List the newest receipts that could not be parsed, as received. They may contain phone numbers."""
    before, limit = number_cursor(query.get("cursor"), LAST_NUMBER), query["limit"]
    with reading_list(services().engine) as connection:
        rows = control.unreadable_receipts(connection, query.get("carrier"), limit + 1, before)
    return page(rows, limit, lambda row: str(row["id"]))


def _control(caller: Operator, carrier: str, body: dict[str, Any], change: Callable[..., None]) -> IdempotentResponse:
    def control_carrier(connection: Connection, by: Actor) -> Any:
        _carrier(connection, carrier)
        change(connection, carrier, reason=body.get("reason"), by=by)
        return _carrier(connection, carrier)

    return act_once(caller, body, control_carrier)


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
