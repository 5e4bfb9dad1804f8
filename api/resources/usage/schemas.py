"""What usage is asked for."""

import re
from typing import Any

from marshmallow import fields, validate

from api.schemas.base import CURSOR_PATTERN, IN_RANGE, Country, Request, fail
from shared.lifecycle import STORED, Category, MessageStatus

DIMENSIONS = ("day", "sender_id", "country", "category", "status")
"""What messages can be counted by, in the order of the answer."""
RESULTS = [MessageStatus(status) for status in STORED]


class Dimensions(fields.String):
    """Names of dimensions, with commas."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        names = super()._deserialize(value, attr, data, **kwargs).split(",")
        unknown = [name for name in names if name not in DIMENSIONS]
        if unknown:
            raise fail("invalid", f"{unknown[0][:40]!r} is none of {', '.join(DIMENSIONS)}. Give them with commas.")
        return list(dict.fromkeys(names))


class Day(fields.Date):
    """A day, UTC, as 2026-03-02, of the years from 2000 to 2999."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not re.fullmatch("2[0-9]{3}-[0-9]{2}-[0-9]{2}", value):
            raise fail("invalid_time", "Give a day, such as 2026-03-02.")
        return super()._deserialize(value, attr, data, **kwargs)


class UsageQuery(Request):
    """Which messages are counted, and by what."""

    since = Day()
    until = Day()
    by = Dimensions(
        load_default=lambda: list(DIMENSIONS),
        metadata={"pattern": "^({0})(,({0}))*$".format("|".join(DIMENSIONS))},
    )
    sender_id = fields.String()
    country = Country()
    category = fields.Enum(Category, by_value=True)
    status = fields.Enum(MessageStatus, by_value=True, metadata={"enum": [str(status) for status in RESULTS]})
    limit = fields.Integer(load_default=1000, validate=validate.Range(1, 1000, error=IN_RANGE))
    cursor = fields.String(metadata={"pattern": CURSOR_PATTERN})
