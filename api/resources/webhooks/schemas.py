"""Webhooks and the stream of events, as requests."""

from typing import Any

from marshmallow import fields, validate

from api.schemas.base import CanonicalUUID, Moment, Request, fail
from api.schemas.paging import Paging
from api.schemas.urls import WebhookUrl
from shared.events.webhook_urls import LONGEST_URL
from shared.outbox import EventType

TYPES = [str(type) for type in EventType if type != EventType.WEBHOOK_TEST]
"""What a webhook can be told of."""
STATUSES = ("active", "disabled")
DELIVERY_STATUSES = ("pending", "delivered", "failed")
LONGEST_DESCRIPTION = 255


class EventTypes(fields.Field[list[str]]):
    """A list of types of events; null is all of them."""

    def __init__(self, **kwargs: Any) -> None:
        of = {"type": "array", "items": {"type": "string", "enum": TYPES}, "minItems": 1}
        super().__init__(allow_none=True, metadata=of, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        if not isinstance(value, list):
            raise fail("wrong_type", 'Give a list, such as ["message.delivered"], or null for all.')
        return known_types(value)


def known_types(given: list[Any]) -> list[str]:
    """The types, each once. Raises ValidationError for what is none, and where there are none."""
    if not given:
        raise fail("required", "Name at least one type of event.")
    unknown = next((type for type in given if type not in TYPES), None)
    if unknown is not None or not all(isinstance(type, str) for type in given):
        raise fail("invalid", f"{str(unknown)[:40]!r} is no type of event. Use one of {', '.join(TYPES)}.")
    return list(dict.fromkeys(given))


class WantedTypes(fields.String):
    """Types of events, separated by commas."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return known_types([part.strip() for part in value.split(",") if part.strip()])


DESCRIPTION = validate.Length(1, LONGEST_DESCRIPTION, error="A description has {min} to {max} characters.")


class WebhookBody(Request):
    """A webhook to be. Without `url` it is that of the sends' `callback_url`."""

    url = WebhookUrl(metadata={"format": "uri", "maxLength": LONGEST_URL, "pattern": "^https?://"})
    events = EventTypes(load_default=None)
    description = fields.String(allow_none=True, load_default=None, validate=DESCRIPTION)


class WebhookChange(Request):
    """What is to be different about a webhook."""

    url = WebhookUrl(metadata={"format": "uri", "maxLength": LONGEST_URL, "pattern": "^https?://"})
    events = EventTypes()
    description = fields.String(allow_none=True, validate=DESCRIPTION)
    status = fields.String(validate=validate.OneOf(STATUSES, error="Give `active` or `disabled`."))


class RecoverBody(Request):
    """From when on events are to be posted that were not delivered."""

    since = Moment(required=True)


class DeliveryPaging(Paging):
    """A page of a webhook's deliveries, newest event first."""

    status = fields.String(validate=validate.OneOf(DELIVERY_STATUSES, error="Give `pending`, `delivered` or `failed`."))


class EventPaging(Paging):
    """A page of the stream of events, oldest first."""

    after = CanonicalUUID(metadata={"type": "string", "format": "uuid"})
    types = WantedTypes()
