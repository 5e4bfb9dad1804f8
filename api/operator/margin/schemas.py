"""Schemas of the report of margins."""

from api.operator.fields import ACCOUNT_ID
from api.resources.usage.schemas import Day, Dimensions
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.paging import cursor, limit
from shared.prices.margin import DIMENSIONS


class MarginQuery(Request):
    """Which days to report, and by which dimensions to group the messages."""

    since = Day("The first day, in UTC; defaults to 30 days ago.", "2026-03-01")
    until = Day("The last day, in UTC; defaults to today.", "2026-03-31")
    by = Dimensions(DIMENSIONS, "country,carrier")
    limit = limit(default=1000, example=1000)
    cursor = cursor()


class MarginResponse(Response):
    """Messages that carriers accepted. A dimension that is not grouped by is null."""

    day = fields.String(
        "The day on which the sends were accepted, in UTC.", "2026-03-02", allow_none=True, format="date"
    )
    account_id = fields.Integer("The account.", ACCOUNT_ID, allow_none=True)
    account = fields.String("The account's name.", "acme", allow_none=True)
    country = fields.String("The country, as two letters of ISO 3166-1; null also if unknown.", "KE", allow_none=True)
    carrier = fields.String("The carrier that accepted them.", "main", allow_none=True)
    messages = fields.Integer("Number of messages.", 3)
    credits = fields.Integer("Credits that the accounts were charged.", 30)
    cost = fields.Integer("What carriers cost, in credits; null if it is known of no message.", 24, allow_none=True)
    margin = fields.Integer(
        "Credits less cost, of the messages whose cost is known; null if it is known of none.", 6, allow_none=True
    )
    messages_without_cost = fields.Integer("Messages whose cost is not known.", 0)
