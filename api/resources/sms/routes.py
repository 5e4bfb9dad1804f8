"""Send to one phone, to a list or to a group; and quotes."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from api.accept.accept import PendingSend, accept
from api.accept.create_quote import quote
from api.accept.schemas import BulkSend, GroupSend, SingleSend
from api.auth.tokens import Caller
from api.endpoint import endpoint, idempotent_response, key_of_request, load, services
from api.http.json_body import LARGE_BODY, read_json
from api.http.request import Summary, current_request
from api.http.responses import JsonResponse, PendingResponse
from api.idempotency import IdempotentResponse
from api.problems import invalid
from api.resources.sms.quote_response import QuoteResponse
from api.resources.sms.responses import BulkResponse, SingleResponse

CONTENT_ERRORS = (
    "too_many_segments",
    "unicode_rejected",
    "sender_not_registered",
    "sender_not_approved",
    "category_not_allowed",
)
SEND_ERRORS = (
    *CONTENT_ERRORS,
    "quote_expired",
    "quote_changed",
    "quote_mismatch",
    "low_balance",
    "spend_limit_reached",
    "traffic_refused",
)
SINGLE_ERRORS = (*SEND_ERRORS, "recipient_suppressed", "recipient_limit", "destination_not_allowed", "no_price")
QUOTES = {"phone": ("single", SingleSend()), "phones": ("bulk", BulkSend()), "group_id": ("group", GroupSend())}


@endpoint(
    "POST",
    "/sms/send",
    body=SingleSend,
    response=SingleResponse,
    errors=SINGLE_ERRORS,
    scope="sms:send",
)
def send_message(caller: Caller, body: dict[str, Any]) -> IdempotentResponse | PendingResponse:
    """Send one message to one phone number."""
    return accept_request(caller, "single", body)


@endpoint(
    "POST",
    "/sms/send-bulk",
    body=BulkSend,
    response=BulkResponse,
    errors=(*SEND_ERRORS, "too_many_recipients", "no_valid_recipients"),
    scope="sms:send",
    large=True,
)
def send_bulk(caller: Caller, body: dict[str, Any]) -> IdempotentResponse | PendingResponse:
    """Send one message to up to 100,000 phone numbers."""
    return accept_request(caller, "bulk", body)


@endpoint(
    "POST",
    "/sms/send-group",
    body=GroupSend,
    response=BulkResponse,
    errors=(*SEND_ERRORS, "group_not_found", "group_empty"),
    scope="sms:send",
)
def send_group(caller: Caller, body: dict[str, Any]) -> IdempotentResponse | PendingResponse:
    """Send one message to every contact of a group."""
    return accept_request(caller, "group", body)


@endpoint(
    "POST",
    "/sms/quote",
    response=QuoteResponse,
    errors=(
        *CONTENT_ERRORS,
        "recipient_suppressed",
        "destination_not_allowed",
        "no_price",
        "too_many_recipients",
        "no_valid_recipients",
        "group_not_found",
        "group_empty",
    ),
    scope="sms:send",
    large=True,
)
def create_quote(caller: Caller) -> IdempotentResponse:
    """Get the cost of a send and the recipients that it would reject, without sending anything.

    The body is that of any of the three sends. For 15 minutes, a send with the same body and the `quote_id` costs no
    more than quoted, or is refused.
    """
    body = read_json(current_request(), LARGE_BODY)
    given = [name for name in QUOTES if name in body]
    if len(given) != 1:
        detail = "Provide exactly one of `phone`, `phones` and `group_id`."
        raise invalid([{"pointer": "", "code": "required", "detail": detail}])
    kind, schema = QUOTES[given[0]]
    loaded = load(schema, body)
    return quote(services(), caller, kind, loaded, key_of_request(caller, loaded))


def accept_request(caller: Caller, kind: str, body: dict[str, Any]) -> IdempotentResponse | PendingResponse:
    """Accept the send of the current request, whose `body` is loaded with the schema of its kind.

    On the event loop, the response to a send to one phone is pending until its commit.
    """
    request = current_request()
    request_id = request.request_id if request.summary.is_sampled else None
    traceparent = request.summary.traceparent
    accepted = accept(request.services, caller, kind, body, key_of_request(caller, body), request_id, traceparent)
    if isinstance(accepted, PendingSend):
        return PendingResponse(request, accepted.ready, partial(_outcome, accepted, request.summary))
    return _noted(accepted, request.summary)


def _outcome(pending: PendingSend, summary: Summary) -> Callable[[], JsonResponse]:
    finish = pending.finisher()
    return lambda: idempotent_response(_noted(finish(), summary))


def _noted(accepted: IdempotentResponse, summary: Summary) -> IdempotentResponse:
    """The response, whose send is noted for the request's log line or span."""
    if summary.is_sampled or summary.traceparent is not None:
        summary.send_id = json.loads(accepted.body)["send_id"]
    return accepted
