"""The response schema of quotes."""

from api.resources.sms.responses import EncodingResponse, RecipientsResponse
from api.schemas import fields
from api.schemas.rules import CapResponse, QuietHoursRuleResponse, StopRuleResponse


class QuoteResponse(RecipientsResponse):
    """The cost of a send and the recipients it would reject."""

    parts = fields.List(
        fields.String(), "The text of each segment; empty if messages differ.", ["Your table is ready."]
    )
    cost = fields.Integer("The cost of the send, in credits.", 3)
    quote_id = fields.UUID("The quote. Pass it to the send as `quote_id`.", "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38")
    quote_expires_at = fields.Timestamp("When the quote expires: after 15 minutes.", "2026-03-02T09:15:00.120Z")
    balance = fields.Integer("Credits available now, before this send.", 996)
    sufficient = fields.Boolean("Whether the balance covers the cost.", True)
    stop_if = fields.Nested(StopRuleResponse, "When failures would hold it; null means never.", allow_none=True)
    canary = fields.Integer("How many messages would be sent first; null without a canary.", allow_none=True)
    quiet_hours = fields.Nested(
        QuietHoursRuleResponse,
        "Hours in which messages would wait, in the recipient's local time: those of the send or, without any, the"
        " account's for the category. Null if there are none.",
        allow_none=True,
    )
    cap = fields.Nested(
        CapResponse,
        "The account's cap on messages of this category to one phone number; null means unlimited.",
        allow_none=True,
    )
    encoding = fields.Nested(
        EncodingResponse,
        "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent if the given text is GSM-7.",
        required=False,
    )
