"""Schemas of deliveries to webhooks."""

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import DELIVERED_AT, EVENT_ID, WEBHOOK_ID, WEBHOOK_URL
from api.schemas.paging import Paging
from api.schemas.times import check_past
from shared.lifecycle import DELIVERY_STATES
from shared.outbox import KEPT_DAYS


class RecoverBody(Request):
    """The time from which to deliver again."""

    since = fields.Timestamp(
        f"The start time, at most {KEPT_DAYS} days ago.", "2026-03-01T00:00:00Z", required=True, validate=check_past
    )


class DeliveryPaging(Paging):
    """Paging through a webhook's deliveries, newest event first."""

    status = fields.Choice(
        DELIVERY_STATES, "Only deliveries with this status.", "failed", error="Use `pending`, `delivered` or `failed`."
    )


class TestResponse(Response):
    """A test event, posted only to this webhook."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID)
    event_id = fields.UUID(
        "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.", EVENT_ID
    )
    type = fields.String("Always `webhook.test`.", "webhook.test")


class RecoverResponse(Response):
    """Undelivered events since `since` will be posted again."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID)
    since = fields.Timestamp("Events from this time on.", "2026-03-01T00:00:00.000Z")


class DeliveryResponse(Response):
    """The delivery of one event to one webhook."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID)
    event_id = fields.UUID(
        "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.", EVENT_ID
    )
    type = fields.String("What happened.", "message.delivered")
    status = fields.String(
        "Current status; `failed` after the last attempt.", "delivered", attribute="state", one_of=DELIVERY_STATES
    )
    attempts = fields.Integer("Number of attempts.", 1)
    next_attempt_at = fields.Timestamp(
        "When the next attempt is due; null if none is.", attribute="next_at", allow_none=True
    )
    url = fields.String("Where it was posted.", WEBHOOK_URL)
    http_status = fields.Integer("The last attempt's HTTP status; null if there was no response.", 200, allow_none=True)
    error = fields.String("Why the last attempt failed; null if it did not.", allow_none=True)
    milliseconds = fields.Integer("Duration of the last attempt, in milliseconds.", 48, allow_none=True)
    created_at = fields.Timestamp("When it was first attempted.", DELIVERED_AT)
    updated_at = fields.Timestamp("When it last changed.", "2026-03-02T09:00:01.250Z")
