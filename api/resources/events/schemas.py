"""Schemas of the event stream."""

from typing import Any

from marshmallow import Schema

from api.resources.webhooks.schemas import TYPES, known_types
from api.schemas import fields
from api.schemas.examples import DELIVERED_AT, EVENT_ID, MESSAGE_EVENT
from api.schemas.fields import doc
from api.schemas.paging import Paging
from shared.outbox import KEPT_DAYS


class WantedTypes(fields.String):
    """Event types, separated by commas."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        return known_types([part.strip() for part in text.split(",") if part.strip()])


class EventPaging(Paging):
    """Paging through the event stream, oldest first."""

    after = fields.UUID(
        metadata=doc(
            "The last event that you handled. Without it, the stream starts with the oldest stored event; events are"
            f" stored for {KEPT_DAYS} days.",
            EVENT_ID,
        )
    )
    types = WantedTypes(metadata=doc("Only events of these types, separated by commas.", ",".join(TYPES[:2])))


class StreamEventResponse(Schema):
    """An event. `type`, `timestamp` and `data` are the same as in a post to a webhook."""

    event_id = fields.UUID(
        required=True,
        metadata=doc(
            "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.", EVENT_ID
        ),
    )
    type = fields.String(required=True, metadata=doc("What happened.", "message.delivered"))
    timestamp = fields.Timestamp(required=True, metadata=doc("When the event happened.", DELIVERED_AT))
    data = fields.Dict(
        required=True, metadata=doc("What the event is about; its members depend on `type`.", MESSAGE_EVENT)
    )
