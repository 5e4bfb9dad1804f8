"""Response schemas of a single message and its timeline."""

from marshmallow import Schema

from api.resources.messages.schemas import ERROR_EXAMPLE, MessageErrorResponse, MessageResponse
from api.schemas import fields
from api.schemas.examples import ACCEPTED_AT, DELIVERED_AT, MESSAGE_ID, NOT_A_PHONE, SENT_AT
from api.schemas.fields import doc

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


class EventResponse(Schema):
    """An event in a message's timeline."""

    at = fields.Timestamp(required=True, metadata=doc("When it happened, by our clock.", ACCEPTED_AT))
    type = fields.String(
        required=True,
        metadata=doc("What happened: `accepted`, `due`, `attempt_failed`, or the message's new status.", "delivered"),
    )
    carrier = fields.String(metadata=doc("The carrier that the message was submitted to.", "simulator"))
    route = fields.String(
        allow_none=True, metadata=doc("The route, and why it selected this carrier; null if there is only one carrier.")
    )
    carrier_reference = fields.String(allow_none=True, metadata=doc("The carrier's id for the message.", "5f2c9a0e"))
    attempts = fields.Integer(metadata=doc("Number of submits to a carrier.", 1))
    error = fields.Nested(MessageErrorResponse, allow_none=True, metadata=doc("The error; null if there was none."))
    detail = fields.String(metadata=doc("Human-readable explanation of this occurrence.", NOT_A_PHONE))
    carrier_at = fields.Timestamp(
        allow_none=True,
        metadata=doc(
            "When it happened by the carrier's clock; null if the carrier gave no time. `at` is when we received it."
        ),
    )
    carrier_at_precision = fields.String(
        allow_none=True,
        metadata=doc(
            "The precision of `carrier_at`. SMPP receipts usually give minutes.",
            "minute",
            enum=["minute", "second", "millisecond", None],
        ),
    )
    resolved_by = fields.String(allow_none=True, metadata=doc(HOW_RESOLVED, enum=RESOLVED_BY))
    evidence = fields.String(allow_none=True, metadata=doc(EVIDENCE))


class AttemptResponse(Schema):
    """One submit of a message to a carrier."""

    carrier = fields.String(
        required=True, allow_none=True, metadata=doc("The carrier that it was submitted to.", "acme-telecom")
    )
    route = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The route, and why it selected this carrier; null if there is only one carrier."),
    )
    submitted_at = fields.Timestamp(required=True, metadata=doc("When it was submitted.", SENT_AT))
    answered_at = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("When the carrier responded; null if it did not.", "2026-03-02T09:00:00.505Z"),
    )
    answer = fields.String(
        required=True,
        metadata=doc(
            "The carrier's response: `rejected` is permanent, `failed` is temporary, `in_doubt` means there was none.",
            "accepted",
            enum=["accepted", "rejected", "failed", "in_doubt"],
        ),
    )
    carrier_code = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The carrier's own code; null if it gave none.", "UNDELIV:027"),
    )
    latency_ms = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Milliseconds from submit to response; null if there was no response, or if unknown.", 25),
    )


class DoubtResponse(Schema):
    """Uncertainty about a message that was submitted but got no response from the carrier."""

    since = fields.Timestamp(
        required=True, metadata=doc("When the wait for a response ended.", "2026-03-02T09:00:10.480Z")
    )
    reason = fields.String(required=True, metadata=doc("Why: a code of `GET /errors?kind=message`.", "no_response"))
    resolved_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When the doubt was resolved; null if it was not.")
    )
    resolved_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(HOW_RESOLVED, enum=RESOLVED_BY),
    )
    evidence = fields.String(required=True, allow_none=True, metadata=doc(EVIDENCE))


class MessageDetailResponse(MessageResponse):
    """One message to one phone number, with its text and timeline."""

    text = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "The text sent to this phone number, with its placeholders filled in; null if it was erased.",
            "Your table is ready.",
        ),
    )
    encoding = fields.String(
        required=True, metadata=doc("`gsm7` if every character fits, otherwise `ucs2`.", "gsm7", enum=["gsm7", "ucs2"])
    )
    parts = fields.List(
        fields.String(),
        required=True,
        metadata=doc("The text of each segment.", ["Your table is ready."]),
    )
    attempts = fields.List(
        fields.Nested(AttemptResponse),
        required=True,
        metadata=doc(
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
        ),
    )
    timeline = fields.List(
        fields.Nested(EventResponse),
        required=True,
        metadata=doc(
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
        ),
    )
    doubt = fields.Nested(
        DoubtResponse,
        required=True,
        allow_none=True,
        metadata=doc("Why it was in doubt, and what resolved it; null if it never was.", DOUBT_EXAMPLE),
    )


class EventsResponse(Schema):
    """The timeline of one message, oldest first."""

    message_id = fields.UUID(required=True, metadata=doc("The message.", MESSAGE_ID))
    data = fields.List(
        fields.Nested(EventResponse),
        required=True,
        metadata=doc(
            "Events, oldest first.",
            [
                {"at": ACCEPTED_AT, "type": "accepted"},
                {"at": SENT_AT, "type": "sent", "carrier": "simulator", "carrier_reference": "5f2c9a0e", "attempts": 1},
                {"at": DELIVERED_AT, "type": "delivered", "error": None},
            ],
        ),
    )
