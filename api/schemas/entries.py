"""Schemas of lists of contacts or phones, and of their rejected entries."""

from typing import Any, ClassVar

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.errors import fail
from api.schemas.examples import NOT_A_PHONE_IN_KENYA

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


class RejectedEntryResponse(Response):
    """A rejected entry."""

    index = fields.Integer("The entry's index in the list, from 0.", 3)
    phone = fields.String("As given; null if it was not a string.", "0712", allow_none=True)
    code = fields.String("Why it was rejected.", "invalid_phone")
    detail = fields.String("Human-readable reason.", NOT_A_PHONE_IN_KENYA)
