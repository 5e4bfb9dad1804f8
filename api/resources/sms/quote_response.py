"""The response schema of quotes."""

from marshmallow import Schema

from api.resources.sms.responses import BulkSegmentsResponse, CountsResponse, EncodingResponse, RejectedResponse
from api.schemas import fields
from api.schemas.examples import NOT_A_PHONE, PHONE
from api.schemas.fields import doc
from api.schemas.rules import CapResponse, QuietHoursRuleResponse, StopRuleResponse


class QuoteResponse(Schema):
    """The cost of a send and the recipients it would reject."""

    counts = fields.Nested(CountsResponse, required=True, metadata=doc("Numbers of accepted and rejected recipients."))
    segments = fields.Nested(
        BulkSegmentsResponse, required=True, metadata=doc("Number of segments, and their encoding.")
    )
    parts = fields.List(
        fields.String(),
        required=True,
        metadata=doc("The text of each segment; empty if messages differ.", ["Your table is ready."]),
    )
    cost = fields.Integer(required=True, metadata=doc("The cost of the send, in credits.", 3))
    quote_id = fields.UUID(
        required=True,
        metadata=doc("The quote. Pass it to the send as `quote_id`.", "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38"),
    )
    quote_expires_at = fields.Timestamp(
        required=True, metadata=doc("When the quote expires: after 15 minutes.", "2026-03-02T09:15:00.120Z")
    )
    balance = fields.Integer(required=True, metadata=doc("Credits available now, before this send.", 996))
    sufficient = fields.Boolean(required=True, metadata=doc("Whether the balance covers the cost.", True))
    stop_if = fields.Nested(
        StopRuleResponse,
        required=True,
        allow_none=True,
        metadata=doc("When failures would hold it; null means never."),
    )
    canary = fields.Integer(
        required=True, allow_none=True, metadata=doc("How many messages would be sent first; null without a canary.")
    )
    quiet_hours = fields.Nested(
        QuietHoursRuleResponse,
        required=True,
        allow_none=True,
        metadata=doc(
            "Hours in which messages would wait, in the recipient's local time: those of the send or, without any, the"
            " account's for the category. Null if there are none."
        ),
    )
    cap = fields.Nested(
        CapResponse,
        required=True,
        allow_none=True,
        metadata=doc("The account's cap on messages of this category to one phone number; null means unlimited."),
    )
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        required=True,
        metadata=doc(
            "The recipients that were not accepted, at most 1,000.",
            [
                {"index": 3, "phone": "0712", "code": "invalid_phone", "detail": NOT_A_PHONE},
                {"index": 4, "phone": PHONE, "code": "duplicate", "duplicate_of": 0},
            ],
        ),
    )
    rejected_truncated = fields.Boolean(metadata=doc("Whether more were rejected than `rejected` lists.", True))
    encoding = fields.Nested(
        EncodingResponse,
        metadata=doc(
            "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7."
        ),
    )
