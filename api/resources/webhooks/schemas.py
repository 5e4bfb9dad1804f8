"""Schemas of webhooks."""

from typing import Any, ClassVar

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.examples import WEBHOOK_ID, WEBHOOK_URL
from api.schemas.fields import Request, doc
from shared.outbox import EventType

SECRET = "whsec_c2VjcmV0LW9mLXRoaXMtZXhhbXBsZS0zMi1ieXRlcyE="
TYPES = [str(type) for type in EventType if type != EventType.WEBHOOK_TEST]
"""Event types that a webhook can subscribe to."""
STATUSES = ("active", "disabled")
MAX_DESCRIPTION_LENGTH = 255
POSTED = doc("The event types that are posted; null means all.", ["message.delivered", "message.undelivered"])
URL = doc("Where events are posted; null means to each send's `callback_url`.", WEBHOOK_URL)
NEW_URL = doc("Where events are posted. A webhook without a `url` cannot be given one.", WEBHOOK_URL)
OWN_DESCRIPTION = doc("Your own description.", "Production")


class EventTypes(fields.Raw):
    """A list of event types; null means all."""

    json_schema: ClassVar[dict[str, Any]] = {
        "type": ["array", "null"],
        "items": {"type": "string", "enum": TYPES},
        "minItems": 1,
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_none=True, metadata=POSTED, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        if not isinstance(value, list):
            raise fail("wrong_type", 'Use a list, such as ["message.delivered"], or null for all.')
        return known_types(value)


def known_types(given: list[Any]) -> list[str]:
    """The event types without duplicates. Raises ValidationError if one is unknown, or if there are none."""
    if not given:
        raise fail("required", "Name at least one event type.")
    unknown = next((type for type in given if type not in TYPES), None)
    if unknown is not None or not all(isinstance(type, str) for type in given):
        raise fail("invalid", f"{str(unknown)[:40]!r} is not an event type. Use one of {', '.join(TYPES)}.")
    return list(dict.fromkeys(given))


DESCRIPTION = validate.Length(1, MAX_DESCRIPTION_LENGTH, error="A description has {min} to {max} characters.")


class WebhookBody(Request):
    """A new webhook. Without `url`, it posts the events of each send to the send's `callback_url`."""

    url = fields.WebhookUrl(allow_none=True, metadata=URL)
    events = EventTypes(load_default=None)
    description = fields.String(allow_none=True, load_default=None, validate=DESCRIPTION, metadata=OWN_DESCRIPTION)


class WebhookChange(Request):
    """Changes to a webhook."""

    url = fields.WebhookUrl(metadata=NEW_URL)
    events = EventTypes()
    description = fields.String(allow_none=True, validate=DESCRIPTION, metadata=OWN_DESCRIPTION)
    status = fields.String(
        validate=validate.OneOf(STATUSES, error="Use `active` or `disabled`."),
        metadata=doc("With `active`, events are posted from now on; POST …/recover posts missed ones.", "active"),
    )


class WebhookResponse(Schema):
    """A webhook, without its secret."""

    webhook_id = fields.UUID(required=True, attribute="id", metadata=doc("The webhook.", WEBHOOK_ID))
    url = fields.String(
        required=True,
        allow_none=True,
        metadata=URL,
    )
    events = fields.List(fields.String(), required=True, allow_none=True, metadata=POSTED)
    description = fields.String(required=True, allow_none=True, metadata=OWN_DESCRIPTION)
    status = fields.String(
        required=True, attribute="state", metadata=doc("Whether events are posted to it.", "active", enum=[*STATUSES])
    )
    disabled_reason = fields.String(
        required=True, allow_none=True, metadata=doc("Why the webhook is disabled; null while it is active.")
    )
    failing_since = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("Since when every post has failed; null if the last one succeeded."),
    )
    secret_version = fields.Integer(
        required=True, metadata=doc("Increases by one with each rotation of the secret.", 1)
    )
    previous_secret_until = fields.Timestamp(
        required=True,
        attribute="previous_until",
        allow_none=True,
        metadata=doc("Until when posts are also signed with the previous secret; null if they are not."),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was created.", "2026-02-20T10:00:00.000Z"))
    updated_at = fields.Timestamp(required=True, metadata=doc("When it last changed.", "2026-03-02T09:00:01.250Z"))


class SecretResponse(WebhookResponse):
    """A webhook with its new secret, which is shown only once."""

    secret = fields.String(required=True, metadata=doc("The secret that signs posts. Shown only once.", SECRET))


class DeletedWebhookResponse(Schema):
    """The webhook is deleted."""

    webhook_id = fields.UUID(required=True, metadata=doc("The webhook.", WEBHOOK_ID))
    deleted = fields.Boolean(required=True, metadata=doc("The webhook is deleted.", True))
