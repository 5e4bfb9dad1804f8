"""Response schemas of a single message and its timeline."""

from api.resources.messages.schemas import ERROR_EXAMPLE, MessageErrorResponse, MessageResponse
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import ACCEPTED_AT, DELIVERED_AT, MESSAGE_ID, NOT_A_PHONE, SENT_AT

RESOLVED_BY = ["answer", "receipt", "operator", "reconciliation", "validity", None]
HOW_RESOLVED = (
    "What resolved the doubt: a late response (`answer`), a receipt, the operator, a report from the carrier"
    " (`reconciliation`), or the end of the message's validity; null if it is unresolved."
)
EVIDENCE = "The carrier's evidence: its id for the message, or its code; null if it gave none."
DOUBT_EXAMPLE = {
    "since": "2026-03-02T09:00:10.480Z",
    "reason": "no_response",
    "resolved_at": None,
    "resolved_by": None,
    "evidence": None,
}


class EventResponse(Response):
    """An event in a message's timeline."""

    at = fields.Timestamp("When it happened, by our clock.", ACCEPTED_AT)
    type = fields.String(
        "What happened: `accepted`, `due`, `attempt_failed`, or the message's new status.", "delivered"
    )
    carrier = fields.String("The carrier that the message was submitted to.", "simulator", required=False)
    route = fields.String(
        "The route, and why it selected this carrier; null if there is only one carrier.",
        allow_none=True,
        required=False,
    )
    carrier_reference = fields.String("The carrier's id for the message.", "5f2c9a0e", allow_none=True, required=False)
    attempts = fields.Integer("Number of submits to a carrier.", 1, required=False)
    error = fields.Nested(MessageErrorResponse, "The error; null if there was none.", allow_none=True, required=False)
    detail = fields.String("Human-readable explanation of this occurrence.", NOT_A_PHONE, required=False)
    carrier_at = fields.Timestamp(
        "When it happened by the carrier's clock; null if the carrier gave no time. `at` is when we received it.",
        allow_none=True,
        required=False,
    )
    carrier_at_precision = fields.String(
        "The precision of `carrier_at`. SMPP receipts usually give minutes.",
        "minute",
        allow_none=True,
        required=False,
        one_of=["minute", "second", "millisecond", None],
    )
    resolved_by = fields.String(HOW_RESOLVED, allow_none=True, required=False, one_of=RESOLVED_BY)
    evidence = fields.String(EVIDENCE, allow_none=True, required=False)


class AttemptResponse(Response):
    """One submit of a message to a carrier."""

    carrier = fields.String("The carrier that it was submitted to.", "acme-telecom", allow_none=True)
    route = fields.String(
        "The route, and why it selected this carrier; null if there is only one carrier.", allow_none=True
    )
    submitted_at = fields.Timestamp("When it was submitted.", SENT_AT)
    answered_at = fields.Timestamp(
        "When the carrier responded; null if it did not.", "2026-03-02T09:00:00.505Z", allow_none=True
    )
    answer = fields.String(
        "The carrier's response: `rejected` is permanent, `failed` is temporary, `in_doubt` means there was none.",
        "accepted",
        one_of=["accepted", "rejected", "failed", "in_doubt"],
    )
    carrier_code = fields.String("The carrier's own code; null if it gave none.", "UNDELIV:027", allow_none=True)
    latency_ms = fields.Integer(
        "Milliseconds from submit to response; null if there was no response, or if unknown.", 25, allow_none=True
    )


class DoubtResponse(Response):
    """Uncertainty about a message that was submitted but got no response from the carrier."""

    since = fields.Timestamp("When the wait for a response ended.", "2026-03-02T09:00:10.480Z")
    reason = fields.String("Why: a code of `GET /errors?kind=message`.", "no_response")
    resolved_at = fields.Timestamp("When the doubt was resolved; null if it was not.", allow_none=True)
    resolved_by = fields.String(HOW_RESOLVED, allow_none=True, one_of=RESOLVED_BY)
    evidence = fields.String(EVIDENCE, allow_none=True)


class MessageDetailResponse(MessageResponse):
    """One message to one phone number, with its text and timeline."""

    text = fields.String(
        "The text sent to this phone number, with its placeholders filled in; null if it was erased.",
        "Your table is ready.",
        allow_none=True,
    )
    encoding = fields.String("`gsm7` if every character fits, otherwise `ucs2`.", "gsm7", one_of=["gsm7", "ucs2"])
    parts = fields.List(fields.String(), "The text of each segment.", ["Your table is ready."])
    attempts = fields.List(
        fields.Nested(AttemptResponse),
        "Submits to carriers, oldest first, without those that the carrier throttled.",
        [
            {
                "carrier": "acme-telecom",
                "route": None,
                "submitted_at": SENT_AT,
                "answered_at": "2026-03-02T09:00:00.505Z",
                "answer": "accepted",
                "carrier_code": None,
                "latency_ms": 25,
            }
        ],
    )
    timeline = fields.List(
        fields.Nested(EventResponse),
        "Events, oldest first.",
        [
            {"at": ACCEPTED_AT, "type": "accepted"},
            {"at": "2026-03-02T09:00:00.505Z", "type": "sent", "carrier": "acme-telecom", "attempts": 1},
            {
                "at": DELIVERED_AT,
                "type": "undelivered",
                "error": ERROR_EXAMPLE,
                "carrier_at": "2026-03-02T09:00:00.000Z",
                "carrier_at_precision": "minute",
            },
        ],
    )
    doubt = fields.Nested(
        DoubtResponse,
        "Why it was in doubt, and what resolved it; null if it never was.",
        DOUBT_EXAMPLE,
        allow_none=True,
    )


class EventsResponse(Response):
    """The timeline of one message, oldest first."""

    message_id = fields.UUID("The message.", MESSAGE_ID)
    data = fields.List(
        fields.Nested(EventResponse),
        "Events, oldest first.",
        [
            {"at": ACCEPTED_AT, "type": "accepted"},
            {"at": SENT_AT, "type": "sent", "carrier": "simulator", "carrier_reference": "5f2c9a0e", "attempts": 1},
            {"at": DELIVERED_AT, "type": "delivered", "error": None},
        ],
    )
