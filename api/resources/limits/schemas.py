"""The limits of the service and the account."""

from marshmallow import Schema

from api.resources.limits.bounds import ObjectBounds, RequestBounds
from api.schemas import fields
from api.schemas.fields import doc


class SpendingResponse(Schema):
    """The account's spend limits, and the credits that count toward them."""

    day = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Credits that the account's sends may reserve in a day; null means unlimited.", 1000),
    )
    month = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Credits that the account's sends may reserve in a month; null means unlimited."),
    )
    spent_of_day = fields.Integer(
        required=True, metadata=doc("Credits reserved today; counted only if there is a spend limit.", 900)
    )
    spent_of_month = fields.Integer(
        required=True,
        metadata=doc("Credits reserved this month; counted only if there is a spend limit.", 12_000),
    )


class RecipientLimitsResponse(Schema):
    """Maximum number of messages to one phone number per hour, by category."""

    authentication = fields.Integer(
        required=True, allow_none=True, metadata=doc("Limit for `authentication`; null means unlimited.", 20)
    )
    transactional = fields.Integer(
        required=True, allow_none=True, metadata=doc("Limit for `transactional`; null means unlimited.", 100)
    )
    marketing = fields.Integer(
        required=True, allow_none=True, metadata=doc("Limit for `marketing`; null means unlimited.", 10)
    )


class LimitsResponse(RequestBounds, ObjectBounds):
    """The limits of the service and the account, and the account's backlog."""

    requests_per_second = fields.Integer(
        required=True, metadata=doc("Maximum requests per second of the account.", 10_000)
    )
    backlog_messages = fields.Integer(
        required=True, metadata=doc("Number of the account's messages that wait to be sent.", 0)
    )
    backlog_limited_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("What limits the largest waiting send, as in its `limited_by`; null if nothing waits."),
    )
    backlog_eta = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("Estimated time at which the last queued message is submitted; null if unknown."),
    )
    spending = fields.Nested(
        SpendingResponse, required=True, metadata=doc("The account's spend limits per day and per month, in UTC.")
    )
    destinations = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        metadata=doc("Prefixes of the phone numbers that the account may send to; null means any.", ["254", "255"]),
    )
    pumping_guard = fields.String(
        required=True,
        metadata=doc(
            "What happens to one-time passwords sent to unusually many phone numbers of one number range: nothing"
            " (`off`), they are reported to the operator (`watch`), or they are refused (`block`).",
            "watch",
            enum=["off", "watch", "block"],
        ),
    )
    messages_per_phone_hour = fields.Nested(
        RecipientLimitsResponse,
        required=True,
        metadata=doc("Maximum number of messages from the account to one phone number per hour, by category."),
    )
