"""Schemas of the event stream."""

from typing import Any

from api.resources.webhooks.schemas import TYPES, known_types
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import DELIVERED_AT, EVENT_ID, MESSAGE_EVENT
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
        "The last event that you handled. Without it, the stream starts with the oldest stored event; events are"
        f" stored for {KEPT_DAYS} days.",
        EVENT_ID,
    )
    types = WantedTypes("Only events of these types, separated by commas.", ",".join(TYPES[:2]))


class StreamEventResponse(Response):
    """An event. `type`, `timestamp` and `data` are the same as in a post to a webhook."""

    event_id = fields.UUID(
        "The event's id, which is the same in every attempt, every webhook (`webhook-id`) and the stream.", EVENT_ID
    )
    type = fields.String("What happened.", "message.delivered")
    timestamp = fields.Timestamp("When the event happened.", DELIVERED_AT)
    data = fields.Dict("What the event is about; its members depend on `type`.", MESSAGE_EVENT)
