"""Schemas of usage reports."""

import re
from typing import Any

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.errors import fail
from api.schemas.paging import cursor, limit, next_cursor
from shared.lifecycle import STORED_STATUSES, Category, MessageStatus

DIMENSIONS = ("day", "sender_id", "country", "category", "status")
"""Dimensions to group messages by, in the order of the response."""
RESULTS = [MessageStatus(status) for status in STORED_STATUSES]


class Dimensions(fields.String):
    """Names of dimensions, separated by commas; by default all."""

    def __init__(self, names: tuple[str, ...], example: str) -> None:
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        pattern = "^({0})(,({0}))*$".format("|".join(names))
        description = f"Dimensions to group by, separated by commas: any of {listed}."
        super().__init__(description, example, load_default=lambda: list(names), pattern=pattern)
        self.names = names

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        names = super()._deserialize(value, attr, data, **kwargs).split(",")
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise fail(
                "invalid", f"{unknown[0][:40]!r} is not one of {', '.join(self.names)}. Separate several with commas."
            )
        return list(dict.fromkeys(names))


class Day(fields.Date):
    """A day in UTC, such as 2026-03-02, from the years 2000 to 2999."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not re.fullmatch("2[0-9]{3}-[0-9]{2}-[0-9]{2}", value):
            raise fail("invalid_time", "Use a date, such as 2026-03-02.")
        return super()._deserialize(value, attr, data, **kwargs)


class UsageQuery(Request):
    """Which messages to count, and by which dimensions to group them."""

    since = Day("The first day, in UTC; defaults to 30 days ago.", "2026-03-01")
    until = Day("The last day, in UTC; defaults to today.", "2026-03-31")
    by = Dimensions(DIMENSIONS, "day,status")
    sender_id = fields.String("Only messages from this sender ID.", "ACME")
    country = fields.Country("Only messages to this country: two letters of ISO 3166-1.", "KE")
    category = fields.Enum(Category, "Only messages of this category.", "transactional")
    status = fields.Enum(
        MessageStatus, "Only messages with this status.", "delivered", one_of=[str(status) for status in RESULTS]
    )
    limit = limit(default=1000, example=1000)
    cursor = cursor()


class UsageResponse(Response):
    """A count of messages with a result. A dimension that is not grouped by is null."""

    day = fields.String(
        "The day on which the send was accepted, in UTC; null if not grouped by it.",
        "2026-03-02",
        allow_none=True,
        format="date",
    )
    sender_id = fields.String("The sender ID; null if not grouped by it.", "ACME", allow_none=True)
    country = fields.String(
        "The country of the phone number's prefix, as two letters of ISO 3166-1. Null if not grouped by it, for"
        " phone numbers without a country, and for messages that were canceled or expired with their send.",
        "KE",
        allow_none=True,
    )
    category = fields.String("The messages' category; null if not grouped by it.", "transactional", allow_none=True)
    status = fields.String(
        "Their status; null if not grouped by it.", "delivered", allow_none=True, one_of=[*RESULTS, None]
    )
    messages = fields.Integer("Number of messages.", 3)
    credits = fields.Integer(
        "Credits charged for those that a carrier accepted: `sent`, `delivered` and `undelivered`.", 3
    )


class UsagePageResponse(Response):
    """A page of counts, and the time of the last count."""

    data = fields.List(fields.Nested(UsageResponse), "The entries.")
    next_cursor = next_cursor()
    counted_at = fields.Timestamp(
        "When today's messages were last counted: seconds ago, or longer on a busy day. Earlier hours are counted"
        " again at growing intervals while their messages change. Null if nothing has been counted.",
        "2026-03-02T09:00:10.000Z",
        allow_none=True,
    )
