"""The limits of the service and the account."""

from marshmallow import Schema

from api.accept.schemas import MAX_PHONES
from api.schemas import fields
from api.schemas.fields import doc
from shared.settings import IDEMPOTENCY_DAYS


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
    """Maximum number of messages to one phone per hour, by category."""

    authentication = fields.Integer(
        required=True, allow_none=True, metadata=doc("Limit for `authentication`; null means unlimited.", 20)
    )
    transactional = fields.Integer(
        required=True, allow_none=True, metadata=doc("Limit for `transactional`; null means unlimited.", 100)
    )
    marketing = fields.Integer(
        required=True, allow_none=True, metadata=doc("Limit for `marketing`; null means unlimited.", 10)
    )


class RequestCostResponse(Schema):
    """Amounts of work that count as one request toward the rate limit. Each request counts as at least one."""

    rows = fields.Integer(
        required=True,
        metadata=doc("Rows of a list, report or export: those returned, and those examined for a filter.", 100),
    )
    recipients = fields.Integer(
        required=True,
        metadata=doc(
            "Recipients of a message with placeholders, in a quote or a refused send. An accepted send costs nothing"
            " extra for its recipients.",
            10,
        ),
    )
    body_bytes = fields.Integer(required=True, metadata=doc("Bytes of a JSON body or of a response.", 65_536))
    debt_seconds = fields.Integer(
        required=True, metadata=doc("Maximum wait, in seconds, after a request that exceeded the allowance.", 5)
    )


class LimitsResponse(Schema):
    """The limits of the service and the account, and the account's backlog."""

    message_characters = fields.Integer(
        required=True, metadata=doc("Maximum length of a message, in Unicode code points.", 1600)
    )
    phones_per_request = fields.Integer(required=True, metadata=doc("Maximum recipients of a bulk send.", MAX_PHONES))
    body_bytes = fields.Integer(required=True, metadata=doc("Maximum size of a body, in bytes.", 65_536))
    bulk_body_bytes = fields.Integer(
        required=True, metadata=doc("Maximum size of a body of /sms/send-bulk or /sms/quote, in bytes.", 8_388_608)
    )
    schedule_days_ahead = fields.Integer(
        required=True, metadata=doc("How far ahead a send can be scheduled, in days.", 90)
    )
    metadata_bytes = fields.Integer(required=True, metadata=doc("Maximum size of `metadata`, in bytes.", 2048))
    token_seconds = fields.Integer(required=True, metadata=doc("How long a token is valid, in seconds.", 86_400))
    requests_per_second = fields.Integer(
        required=True, metadata=doc("Maximum requests per second of the account.", 10_000)
    )
    request_cost = fields.Nested(
        RequestCostResponse,
        required=True,
        metadata=doc(
            "Amounts of work that count as one request. A request that costs more delays the account's next ones."
        ),
    )
    page_items = fields.Integer(required=True, metadata=doc("Maximum entries per page.", 1000))
    header_bytes = fields.Integer(
        required=True, metadata=doc("Maximum size of a URL, and of a single header, in bytes.", 8192)
    )
    head_bytes = fields.Integer(
        required=True, metadata=doc("Maximum size of the URL and all headers together, in bytes.", 32_768)
    )
    json_keys = fields.Integer(required=True, metadata=doc("Maximum keys of a JSON object.", 1000))
    json_values = fields.Integer(
        required=True,
        metadata=doc(
            "Maximum values in a large JSON body, nested ones included; 15,000 in a body of up to 64 kB.", 1_500_000
        ),
    )
    json_depth = fields.Integer(required=True, metadata=doc("Maximum nesting depth of a JSON body.", 32))
    requests_under_way = fields.Integer(
        required=True,
        metadata=doc(
            "Maximum concurrent requests of the account per API process; further ones get `rate_limited`. Before"
            " authentication, a lower limit per client address applies.",
            512,
        ),
    )
    large_bodies_under_way = fields.Integer(
        required=True, metadata=doc("Maximum of these with a body above `body_bytes`; further ones wait.", 8)
    )
    exports_under_way = fields.Integer(
        required=True,
        metadata=doc("Maximum concurrent CSV exports per API process; further ones get `rate_limited`.", 4),
    )
    page_rows_examined = fields.Integer(
        required=True,
        metadata=doc(
            "Maximum rows examined for a page of a filtered list; such a page may be shorter than `limit`.", 10_000
        ),
    )
    page_seconds = fields.Integer(
        required=True,
        metadata=doc("Timeout, in seconds, of each query of a list or report; the response is then 503.", 5),
    )
    body_bytes_per_second = fields.Integer(
        required=True, metadata=doc("Minimum rate at which a large body must arrive, after its first 20 seconds.", 8192)
    )
    revoked_tokens_per_key = fields.Integer(
        required=True, metadata=doc("Maximum tokens of an API key that can be revoked per day.", 1000)
    )
    groups = fields.Integer(required=True, metadata=doc("Maximum groups of an account.", 10_000))
    idempotency_days = fields.Integer(
        required=True, metadata=doc("How long an `Idempotency-Key` is kept, in days.", IDEMPOTENCY_DAYS)
    )
    backlog_messages = fields.Integer(
        required=True, metadata=doc("Number of the account's messages that wait to be sent.", 0)
    )
    backlog_limited_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("What limits the largest waiting send, as in its `limited_by`; null if nothing waits."),
    )
    backlog_eta = fields.String(
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
        metadata=doc("Prefixes of the phones that the account may send to; null means any phone.", ["254", "255"]),
    )
    pumping_guard = fields.String(
        required=True,
        metadata=doc(
            "What happens to one-time passwords sent to unusually many phones of one number range: nothing (`off`),"
            " they are reported to the operator (`watch`), or they are refused (`block`).",
            "watch",
            enum=["off", "watch", "block"],
        ),
    )
    messages_per_phone_hour = fields.Nested(
        RecipientLimitsResponse,
        required=True,
        metadata=doc("Maximum number of messages from the account to one phone per hour, by category."),
    )
