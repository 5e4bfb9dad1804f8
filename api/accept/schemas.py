"""The three sends, as requests."""

import json
from datetime import datetime
from typing import Any

from marshmallow import ValidationError, fields, validate, validates, validates_schema

from api.schemas.base import (
    IN_RANGE,
    LONGEST_REFERENCE,
    CanonicalUUID,
    Flag,
    Moment,
    Phone,
    Phones,
    Request,
    Text,
    Whole,
    fail,
)
from api.schemas.rules import PartRules, QuietHours
from api.schemas.times import check_due, check_expiry
from api.schemas.urls import WebhookUrl
from shared.contacts.fields import value_problem
from shared.events.webhook_urls import LONGEST_URL
from shared.lifecycle import Category
from shared.sms.segments import MAX_CHARACTERS

MOST_PHONES = 100_000

MOST_METADATA = 2048


class SendOptions(Request):
    """What every send takes."""

    sender_id = fields.String(
        required=True,
        validate=validate.Length(1, 15, error="A sender ID has 1 to 15 characters."),
        metadata={"description": "A sender ID registered by the account.", "example": "ACME"},
    )
    message = Text(
        required=True,
        metadata={"description": "1 to 1,600 characters, not blank.", "minLength": 1, "maxLength": MAX_CHARACTERS},
    )
    send_at = Moment(metadata={"description": "When to send: at most 90 days ahead. Up to 60 seconds ago: now."})
    expires_at = Moment(metadata={"description": "When to give up: 72 hours after it is due, unless said."})
    reference = fields.String(
        validate=validate.Length(1, LONGEST_REFERENCE, error="A reference has {min} to {max} characters.")
    )
    category = fields.Enum(Category, by_value=True, load_default=Category.TRANSACTIONAL)
    on_unicode = fields.String(
        validate=validate.OneOf(["send", "transliterate", "reject"]),
        load_default="send",
        metadata={"description": "What to do with a message that does not fit GSM-7."},
    )
    max_segments = Whole(validate=validate.Range(1, 30, error=IN_RANGE))
    strict = Flag(load_default=False, metadata={"description": "All recipients, or nothing."})
    allow_duplicates = Flag(load_default=False)
    rate = Whole(
        validate=validate.Range(1, 100_000, error=IN_RANGE),
        metadata={"description": "Segments per second, at most."},
    )
    callback_url = WebhookUrl(metadata={"format": "uri", "maxLength": LONGEST_URL, "pattern": "^https?://"})
    quiet_hours = fields.Nested(QuietHours)
    quote_id = CanonicalUUID(metadata={"type": "string", "format": "uuid"})
    metadata = fields.Dict(keys=fields.String(), metadata={"description": "At most 2 kB of your own; comes back."})

    @validates("send_at")
    def not_too_far_ahead(self, send_at: datetime, data_key: str) -> None:
        """90 days at most."""
        check_due(send_at)

    @validates("expires_at")
    def not_for_ever(self, expires_at: datetime, data_key: str) -> None:
        """97 days at most."""
        check_expiry(expires_at)

    @validates_schema
    def never_quiet(self, data: dict[str, Any], **_: Any) -> None:
        """A code that somebody waits for is not held back."""
        if "quiet_hours" in data and data.get("category") == Category.AUTHENTICATION:
            detail = "Messages of the category `authentication` have no quiet hours."
            raise ValidationError({"quiet_hours": {"code": "invalid", "detail": detail}})

    @validates("metadata")
    def not_too_large(self, metadata: dict[str, Any], data_key: str) -> None:
        """2 kB at most."""
        if len(json.dumps(metadata).encode()) > MOST_METADATA:
            raise fail("too_long", "`metadata` may hold at most 2 kB.")


class Values(fields.Dict):
    """Texts by name."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, str]:
        values: dict[Any, Any] = super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call]
        for name, text in values.items():
            problem = "Give a text, in double quotes." if not isinstance(text, str) else None
            problem = problem or value_problem(text, MAX_CHARACTERS)
            if problem is not None:
                code = "invalid" if isinstance(text, str) else "wrong_type"
                raise ValidationError({str(name)[:40]: {"code": code, "detail": problem}})
        return dict(values)


class SingleSend(SendOptions):
    """One message to one phone."""

    phone = Phone(
        required=True,
        metadata={"description": "Digits only, beginning with the country code.", "example": "254711000000"},
    )
    variables = Values(metadata={"additionalProperties": {"type": "string"}})
    by_themselves = frozenset({"sender_id", "phone", "message", "reference", "variables", "on_unicode", "max_segments"})


class BulkSend(SendOptions, PartRules):
    """One message to several phones."""

    phones = Phones(
        required=True,
        metadata={
            "type": "array",
            "items": {
                "oneOf": [
                    {"type": "string", "example": "254711000000"},
                    {
                        "type": "object",
                        "properties": {
                            "phone": {"type": "string"},
                            "variables": {"type": "object", "additionalProperties": {"type": "string"}},
                        },
                        "required": ["phone"],
                        "additionalProperties": False,
                    },
                ]
            },
            "minItems": 1,
            "maxItems": MOST_PHONES,
        },
    )


class GroupSend(SendOptions, PartRules):
    """One message to every contact of a group."""

    group_id = CanonicalUUID(required=True, metadata={"type": "string", "format": "uuid"})
