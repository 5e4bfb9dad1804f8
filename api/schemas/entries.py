"""Schemas of lists of contacts or phones, and of their rejected entries."""

from typing import Any, ClassVar

from marshmallow import Schema

from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.examples import NOT_A_PHONE_IN_KENYA
from api.schemas.fields import doc

MAX_ENTRIES = 100_000
"""Entries per request."""


class Entries(fields.Raw):
    """1 to 100,000 entries as given. Each one is validated later, so that valid ones can be accepted."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "array", "minItems": 1, "maxItems": MAX_ENTRIES}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[object]:
        if not isinstance(value, list):
            raise fail("wrong_type", "Use a list.")
        if not value:
            raise fail("required", "Provide at least one entry.")
        if len(value) > MAX_ENTRIES:
            raise fail("too_long", f"{len(value):,} entries were given; one request takes at most {MAX_ENTRIES:,}.")
        return value


class RejectedEntryResponse(Schema):
    """A rejected entry."""

    index = fields.Integer(required=True, metadata=doc("The entry's index in the list, from 0.", 3))
    phone = fields.String(
        required=True, allow_none=True, metadata=doc("As given; null if it was not a string.", "0712")
    )
    code = fields.String(required=True, metadata=doc("Why it was rejected.", "invalid_phone"))
    detail = fields.String(required=True, metadata=doc("Human-readable reason.", NOT_A_PHONE_IN_KENYA))
