"""Schemas of the queue."""

from marshmallow import Schema

from api.operator.fields import ACCOUNT_ID
from api.schemas import fields
from api.schemas.fields import Request, doc
from api.schemas.paging import limit

LIMITED_BY = (
    "guard",
    "account_frozen",
    "no_worker",
    "carrier_paused",
    "carrier_down",
    "due_later",
    "sender_rate",
    "prefix_rate",
    "throttled",
    "carrier_rate",
    "window",
    "queue_turn",
)


class QueueQuery(Request):
    """How much of the queue to show."""

    limit = limit("Entries, 1 to 1,000; those with the most segments come first.", default=200, example=200)


class QueueEntryResponse(Schema):
    """Batches of one account, category and carrier that are in the same state."""

    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    account = fields.String(required=True, metadata=doc("Its name.", "acme"))
    category = fields.String(required=True, metadata=doc("The category, which is the lane of the queue.", "marketing"))
    carrier = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The carrier's queue; null before they are routed, and with a single carrier."),
    )
    rate_limit = fields.String(
        required=True, allow_none=True, metadata=doc("The rate limit that applies to them; null if none does.")
    )
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc(
            "Whether they wait for a time or a carrier, for their turn, or are being sent.",
            "queued",
            enum=["waiting", "queued", "sending"],
        ),
    )
    batches = fields.Integer(required=True, metadata=doc("Batches.", 12))
    messages = fields.Integer(required=True, metadata=doc("Messages that are left of them.", 12_000))
    segments = fields.Integer(required=True, metadata=doc("Segments of these.", 12_000))
    first_due_at = fields.Timestamp(
        required=True, metadata=doc("When the first of them was or is due.", "2026-03-02T09:00:00.120Z")
    )
    limited_by = fields.String(
        required=True,
        metadata=doc(
            "What limits them. `due_later`: they wait for their time, quiet hours or a retry.",
            "queue_turn",
            enum=[*LIMITED_BY],
        ),
    )


class QueueResponse(Schema):
    """The queue."""

    data = fields.List(fields.Nested(QueueEntryResponse), required=True, metadata=doc("The entries."))
