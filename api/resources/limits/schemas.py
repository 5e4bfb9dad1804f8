"""The limits of the service and the account."""

from api.resources.limits.bounds import ObjectBounds, RequestBounds
from api.schemas import fields
from api.schemas.base import Response


class SpendingResponse(Response):
    """The account's spend limits, and the credits that count toward them."""

    day = fields.Integer(
        "Credits that the account's sends may reserve in a day; null means unlimited.", 1000, allow_none=True
    )
    month = fields.Integer(
        "Credits that the account's sends may reserve in a month; null means unlimited.", allow_none=True
    )
    spent_of_day = fields.Integer("Credits reserved today; counted only if there is a spend limit.", 900)
    spent_of_month = fields.Integer("Credits reserved this month; counted only if there is a spend limit.", 12_000)


class RecipientLimitsResponse(Response):
    """Maximum number of messages to one phone number per hour, by category."""

    authentication = fields.Integer("Limit for `authentication`; null means unlimited.", 20, allow_none=True)
    transactional = fields.Integer("Limit for `transactional`; null means unlimited.", 100, allow_none=True)
    marketing = fields.Integer("Limit for `marketing`; null means unlimited.", 10, allow_none=True)


class LimitsResponse(RequestBounds, ObjectBounds):
    """The limits of the service and the account, and the account's backlog."""

    requests_per_second = fields.Integer("Maximum requests per second of the account.", 10_000)
    backlog_messages = fields.Integer("Number of the account's messages that wait to be sent.", 0)
    backlog_limited_by = fields.String(
        "What limits the largest waiting send, as in its `limited_by`; null if nothing waits.", allow_none=True
    )
    backlog_eta = fields.Timestamp(
        "Estimated time at which the last queued message is submitted; null if unknown.", allow_none=True
    )
    spending = fields.Nested(SpendingResponse, "The account's spend limits per day and per month, in UTC.")
    destinations = fields.List(
        fields.String(),
        "Prefixes of the phone numbers that the account may send to; null means any.",
        ["254", "255"],
        allow_none=True,
    )
    pumping_guard = fields.String(
        "What happens to one-time passwords sent to unusually many phone numbers of one number range: nothing"
        " (`off`), they are reported to the operator (`watch`), or they are refused (`block`).",
        "watch",
        one_of=["off", "watch", "block"],
    )
    messages_per_phone_hour = fields.Nested(
        RecipientLimitsResponse,
        "Maximum number of messages from the account to one phone number per hour, by category.",
    )
