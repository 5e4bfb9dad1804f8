"""Schemas of the queue."""

from api.operator.fields import ACCOUNT_ID
from api.schemas import fields
from api.schemas.base import Request, Response
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


class QueueEntryResponse(Response):
    """Batches of one account, category and carrier that are in the same state."""

    account_id = fields.Integer("The account.", ACCOUNT_ID)
    account = fields.String("Its name.", "acme")
    category = fields.String("The category, which is the lane of the queue.", "marketing")
    carrier = fields.String(
        "The carrier's queue; null before they are routed, and with a single carrier.", allow_none=True
    )
    rate_limit = fields.String("The rate limit that applies to them; null if none does.", allow_none=True)
    status = fields.String(
        "Whether they wait for a time or a carrier, for their turn, or are being sent.",
        "queued",
        attribute="state",
        one_of=["waiting", "queued", "sending"],
    )
    batches = fields.Integer("Batches.", 12)
    messages = fields.Integer("Messages that are left of them.", 12_000)
    segments = fields.Integer("Segments of these.", 12_000)
    first_due_at = fields.Timestamp("When the first of them was or is due.", "2026-03-02T09:00:00.120Z")
    limited_by = fields.String(
        "What limits them. `due_later`: they wait for their time, quiet hours or a retry.",
        "queue_turn",
        one_of=LIMITED_BY,
    )
