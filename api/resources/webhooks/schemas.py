"""Schemas of webhooks."""

from typing import Any, ClassVar

from marshmallow import validate

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.errors import fail
from api.schemas.examples import WEBHOOK_ID, WEBHOOK_URL
from shared.lifecycle import EventType

SECRET = "whsec_c2VjcmV0LW9mLXRoaXMtZXhhbXBsZS0zMi1ieXRlcyE="
TYPES = [str(type) for type in EventType if type != EventType.WEBHOOK_TEST]
"""Event types that a webhook can subscribe to."""
STATUSES = ("active", "disabled")
MAX_DESCRIPTION_LENGTH = 255
POSTED = ("The event types that are posted; null means all.", ["message.delivered", "message.undelivered"])
URL = ("Where events are posted; null means to each send's `callback_url`.", WEBHOOK_URL)
NEW_URL = ("Where events are posted. A webhook without a `url` cannot be given one.", WEBHOOK_URL)
OWN_DESCRIPTION = ("Your own description.", "Production")


class EventTypes(fields.Raw):
    """A list of event types; null means all."""

    json_schema: ClassVar[dict[str, Any]] = {
        "type": ["array", "null"],
        "items": {"type": "string", "enum": TYPES},
        "minItems": 1,
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(*POSTED, allow_none=True, **options)

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

    url = fields.WebhookUrl(*URL, allow_none=True)
    events = EventTypes(load_default=None)
    description = fields.String(*OWN_DESCRIPTION, allow_none=True, load_default=None, validate=DESCRIPTION)


class WebhookChange(Request):
    """Changes to a webhook."""

    url = fields.WebhookUrl(*NEW_URL)
    events = EventTypes()
    description = fields.String(*OWN_DESCRIPTION, allow_none=True, validate=DESCRIPTION)
    status = fields.Choice(
        STATUSES,
        "With `active`, events are posted from now on; POST …/recover posts missed ones.",
        "active",
        error="Use `active` or `disabled`.",
    )


class WebhookResponse(Response):
    """A webhook, without its secret."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID, attribute="id")
    url = fields.String(*URL, allow_none=True)
    events = fields.List(fields.String(), *POSTED, allow_none=True)
    description = fields.String(*OWN_DESCRIPTION, allow_none=True)
    status = fields.String("Whether events are posted to it.", "active", attribute="state", one_of=STATUSES)
    disabled_reason = fields.String("Why the webhook is disabled; null while it is active.", allow_none=True)
    failing_since = fields.Timestamp(
        "Since when every post has failed; null if the last one succeeded or nothing is left to retry.",
        allow_none=True,
    )
    secret_version = fields.Integer("Increases by one with each rotation of the secret.", 1)
    previous_secret_until = fields.Timestamp(
        "Until when posts are also signed with the previous secret; null if they are not.",
        attribute="previous_until",
        allow_none=True,
    )
    created_at = fields.Timestamp("When it was created.", "2026-02-20T10:00:00.000Z")
    updated_at = fields.Timestamp("When it last changed.", "2026-03-02T09:00:01.250Z")


class SecretResponse(WebhookResponse):
    """A webhook with its new secret, which is shown only once."""

    secret = fields.String("The secret that signs posts. Shown only once.", SECRET)


class DeletedWebhookResponse(Response):
    """The webhook is deleted."""

    webhook_id = fields.UUID("The webhook.", WEBHOOK_ID)
    deleted = fields.Boolean("The webhook is deleted.", True)
