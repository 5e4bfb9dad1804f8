"""Schemas of deliveries to webhooks."""

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.examples import DELIVERED_AT, EVENT_ID, WEBHOOK_ID, WEBHOOK_URL
from api.schemas.fields import Request, doc
from api.schemas.paging import Paging
from shared.lifecycle import DELIVERY_STATES
from shared.outbox import KEPT_DAYS


class RecoverBody(Request):
    """The time from which to post undelivered events again."""

    since = fields.Timestamp(
        required=True, metadata=doc(f"The start time, at most {KEPT_DAYS} days ago.", "2026-03-01T00:00:00Z")
    )


class DeliveryPaging(Paging):
    """Paging through a webhook's deliveries, newest event first."""

    status = fields.String(
        validate=validate.OneOf(DELIVERY_STATES, error="Use `pending`, `delivered` or `failed`."),
        metadata=doc("Only deliveries with this status.", "failed"),
    )


class TestResponse(Schema):
    """A test event, posted only to this webhook."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))
    event_id = fields.UUID(
        required=True,
        metadata=doc(
            "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.", EVENT_ID
        ),
    )
    type = fields.String(required=True, metadata=doc("Always `webhook.test`.", "webhook.test"))


class RecoverResponse(Schema):
    """Undelivered events since `since` will be posted again."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))
    since = fields.Timestamp(required=True, metadata=doc("Events from this time on.", "2026-03-01T00:00:00.000Z"))


class DeliveryResponse(Schema):
    """The delivery of one event to one webhook."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))
    event_id = fields.UUID(
        required=True,
        metadata=doc(
            "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.", EVENT_ID
        ),
    )
    type = fields.String(required=True, metadata=doc("What happened.", "message.delivered"))
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc("Current status; `failed` after the last attempt.", "delivered", enum=[*DELIVERY_STATES]),
    )
    attempts = fields.Integer(required=True, metadata=doc("Number of attempts.", 1))
    next_attempt_at = fields.Timestamp(
        required=True,
        attribute="next_at",
        allow_none=True,
        metadata=doc("When the next attempt is due; null if none is."),
    )
    url = fields.String(required=True, metadata=doc("Where it was posted.", WEBHOOK_URL))
    http_status = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("The last attempt's HTTP status; null if there was no response.", 200),
    )
    error = fields.String(
        required=True, allow_none=True, metadata=doc("Why the last attempt failed; null if it did not.")
    )
    milliseconds = fields.Integer(
        required=True, allow_none=True, metadata=doc("Duration of the last attempt, in milliseconds.", 48)
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was first attempted.", DELIVERED_AT))
    updated_at = fields.Timestamp(required=True, metadata=doc("When it last changed.", "2026-03-02T09:00:01.250Z"))
