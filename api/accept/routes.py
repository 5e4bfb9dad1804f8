"""Send to one phone, to a list or to a group; and quotes."""

from typing import Any

from api.accept.accept import accept
from api.accept.pricing import quote
from api.accept.responses import BulkResponse, QuoteResponse, SingleResponse
from api.accept.schemas import BulkSend, GroupSend, SingleSend
from api.auth.tokens import Caller
from api.endpoint import endpoint, load, services
from api.http.event_loop import PendingResponse
from api.http.json_body import LARGE_BODY, read_json
from api.http.problems import invalid
from api.http.responses import JsonResponse

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
QUOTES = {"phone": ("single", SingleSend()), "phones": ("bulk", BulkSend()), "group_id": ("group", GroupSend())}


@endpoint(
    "POST",
    "/sms/send",
    body=SingleSend,
    response=SingleResponse,
    errors=(*SEND_ERRORS, "recipient_suppressed", "recipient_limit", "destination_not_allowed"),
    scope="sms:send",
)
def send(caller: Caller, body: dict[str, Any]) -> JsonResponse | PendingResponse:
    """Send one message to one phone."""
    return accept(services(), caller, "single", body)


@endpoint(
    "POST",
    "/sms/send-bulk",
    body=BulkSend,
    response=BulkResponse,
    errors=(*SEND_ERRORS, "too_many_recipients", "no_valid_recipients"),
    scope="sms:send",
    large=True,
)
def send_bulk(caller: Caller, body: dict[str, Any]) -> JsonResponse | PendingResponse:
    """Send one message to up to 100,000 phones."""
    return accept(services(), caller, "bulk", body)


@endpoint(
    "POST",
    "/sms/send-group",
    body=GroupSend,
    response=BulkResponse,
    errors=(*SEND_ERRORS, "group_not_found", "group_empty"),
    scope="sms:send",
)
def send_group(caller: Caller, body: dict[str, Any]) -> JsonResponse | PendingResponse:
    """Send one message to every contact of a group."""
    return accept(services(), caller, "group", body)


@endpoint(
    "POST",
    "/sms/quote",
    response=QuoteResponse,
    errors=(
        *CONTENT_ERRORS,
        "recipient_suppressed",
        "destination_not_allowed",
        "too_many_recipients",
        "no_valid_recipients",
        "group_not_found",
        "group_empty",
    ),
    scope="sms:send",
    large=True,
    cancellable=True,
)
def price(caller: Caller) -> JsonResponse:
    """Get the cost of a send and the recipients that it would reject, without sending anything.

    The body is that of any of the three sends. For 15 minutes, a send with the same body and the `quote_id` costs no
    more than quoted, or is refused.
    """
    body = read_json(LARGE_BODY)
    given = [name for name in QUOTES if name in body]
    if len(given) != 1:
        detail = "Provide exactly one of `phone`, `phones` and `group_id`."
        raise invalid([{"pointer": "", "code": "required", "detail": detail}])
    kind, schema = QUOTES[given[0]]
    return quote(services(), caller, kind, load(schema, body))
