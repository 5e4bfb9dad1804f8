"""Request schemas of the three kinds of sends."""

import json
from typing import Any, ClassVar

from marshmallow import ValidationError, validate, validates, validates_schema

from api.schemas import fields, send_options
from api.schemas.base import Request
from api.schemas.errors import fail
from api.schemas.examples import GROUP_ID, OTHER_PHONE, PHONE, WEBHOOK_URL
from api.schemas.fields import MAX_REFERENCE_LENGTH, SENDER_ID_LENGTH
from api.schemas.rules import PartRules, QuietHours
from api.schemas.times import check_due, check_expiry
from shared.contacts.fields import value_problem
from shared.lifecycle import Category
from shared.sms.segments import MAX_CHARACTERS

MAX_PHONES = 100_000
MAX_METADATA_BYTES = 2048


class SendOptions(Request):
    """Fields common to all sends."""

    sender_id = fields.String(
        "A sender ID registered by the account.", "ACME", required=True, validate=SENDER_ID_LENGTH
    )
    message = fields.Text(
        "The text: 1 to 1,600 characters, not blank. `{{name}}` and `{{name|default}}` are placeholders.",
        "Your table is ready.",
        required=True,
        minLength=1,
        maxLength=MAX_CHARACTERS,
    )
    send_at = fields.Timestamp(
        "When to send, at most 90 days ahead; defaults to now. A time up to 60 seconds ago means now.",
        validate=check_due,
    )
    expires_at = fields.Timestamp(
        "When unsent messages expire; defaults to 72 hours after the send is due.", validate=check_expiry
    )
    reference = fields.String(
        "Your own reference, returned wherever the send appears.",
        "order A-1042",
        validate=validate.Length(1, MAX_REFERENCE_LENGTH, error="A reference has {min} to {max} characters."),
    )
    category = fields.Enum(
        Category,
        "The send's purpose, which decides its priority. Use `marketing` for campaigns: an account's sends of one"
        " category go in order, so a `transactional` campaign delays your other transactional messages.",
        "transactional",
        load_default=Category.TRANSACTIONAL,
    )
    on_unicode = send_options.on_unicode()
    max_segments = send_options.max_segments()
    strict = fields.StrictBoolean(
        "Refuse the request unless every recipient can be accepted.", False, load_default=False
    )
    allow_duplicates = fields.StrictBoolean(
        "Send to a phone number as often as it is listed, instead of once.", False, load_default=False
    )
    rate = send_options.rate(
        "Maximum segments per second; without it, as fast as the route allows. A single second may have up to 30 %"
        " more if the previous ones had less."
    )
    callback_url = fields.WebhookUrl("URL that receives this send's events, in addition to your webhooks.", WEBHOOK_URL)
    quiet_hours = fields.Nested(
        QuietHours,
        "Hours in which messages wait, in the recipient's local time, with the time zone derived from the prefix."
        " Defaults to the account's quiet hours for the category. Not allowed for `authentication`.",
        {"from": "21:00", "until": "08:00"},
    )
    quote_id = fields.UUID(
        "A quote from POST /sms/quote for the same body. The send costs no more than quoted, or is refused.",
        "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38",
    )
    metadata = fields.Dict(
        "Your own data, up to 2 kB, returned with the send and in its events.",
        {"order": "A-1042"},
        keys=fields.String(),
    )

    @validates_schema
    def no_quiet_hours_for_authentication(self, data: dict[str, Any], **_: Any) -> None:
        """One-time passwords must not be delayed."""
        if "quiet_hours" in data and data.get("category") == Category.AUTHENTICATION:
            detail = "Messages of the category `authentication` cannot have quiet hours."
            raise ValidationError({"quiet_hours": {"code": "invalid", "detail": detail}})

    @validates("metadata")
    def not_too_large(self, metadata: dict[str, Any], data_key: str) -> None:
        """At most 2 kB."""
        if len(json.dumps(metadata, ensure_ascii=False).encode(errors="surrogatepass")) > MAX_METADATA_BYTES:
            raise fail("too_long", "`metadata` may hold at most 2 kB.")


class Values(fields.Dict):
    """An object whose values are strings."""

    json_schema: ClassVar[dict[str, Any]] = {"additionalProperties": {"type": "string"}}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> dict[str, str]:
        values: dict[Any, Any] = super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call]
        for name, text in values.items():
            problem = "Use a string, in double quotes." if not isinstance(text, str) else None
            problem = problem or value_problem(text, MAX_CHARACTERS)
            if problem is not None:
                code = "invalid" if isinstance(text, str) else "wrong_type"
                raise ValidationError({str(name)[:40]: {"code": code, "detail": problem}})
        return dict(values)


class Recipients(fields.Raw):
    """The recipients as given. They are validated later, all at once."""

    json_schema: ClassVar[dict[str, Any]] = {
        "type": "array",
        "items": {
            "oneOf": [
                {"type": "string", "example": PHONE},
                {
                    "type": "object",
                    "properties": {
                        "phone": {"type": "string"},
                        "variables": {"type": "object", "additionalProperties": {"type": "string"}},
                        "reference": {"type": "string", "minLength": 1, "maxLength": MAX_REFERENCE_LENGTH},
                    },
                    "required": ["phone"],
                    "additionalProperties": False,
                },
            ]
        },
        "minItems": 1,
        "maxItems": MAX_PHONES,
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[object]:
        if not isinstance(value, list):
            raise fail("wrong_type", 'Use a list, such as ["254711000000"].')
        if not value:
            raise fail("required", "Provide at least one recipient.")
        return value


class SingleSend(SendOptions):
    """One message to one phone."""

    phone = fields.Phone("Digits only, starting with the country code.", PHONE, required=True)
    variables = Values("The values of the message's placeholders, by name.", {"name": "Ann"})
    independent = frozenset(
        {"sender_id", "phone", "message", "reference", "category", "variables", "on_unicode", "max_segments"}
    )


class BulkSend(SendOptions, PartRules):
    """One message to several phones."""

    phones = Recipients(
        "1 to 100,000 recipients: phone numbers, with digits only and starting with the country code, or objects"
        " with `phone`, `variables`, which are the values of the message's placeholders, and your own `reference`,"
        " which is returned wherever the message appears.",
        [PHONE, OTHER_PHONE],
        required=True,
    )


class GroupSend(SendOptions, PartRules):
    """One message to every contact of a group."""

    group_id = fields.UUID("A group of the account.", GROUP_ID, required=True)
