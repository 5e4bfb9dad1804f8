"""The limits of the service and the account."""

from marshmallow import Schema

from api.accept.schemas import MAX_PHONES
from api.schemas import fields
from api.schemas.fields import doc
from shared.settings import IDEMPOTENCY_DAYS


class SpendingResponse(Schema):
    """What the account's sends may reserve, and what they have reserved, where that is limited."""

    day = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Credits that its sends may reserve on a day; null: as many as there are.", 1000),
    )
    month = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Credits that its sends may reserve in a month; null: as many as there are."),
    )
    spent_of_day = fields.Integer(
        required=True, metadata=doc("Credits that its sends have reserved today; counted where there is a limit.", 900)
    )
    spent_of_month = fields.Integer(
        required=True,
        metadata=doc("Credits that its sends have reserved this month; counted where there is a limit.", 12_000),
    )


class RecipientLimitsResponse(Schema):
    """Messages of each category that a phone may get within an hour."""

    authentication = fields.Integer(
        required=True, allow_none=True, metadata=doc("Of one-time passwords and the like; null: any number.", 20)
    )
    transactional = fields.Integer(
        required=True, allow_none=True, metadata=doc("Of this category; null: any number.", 100)
    )
    marketing = fields.Integer(required=True, allow_none=True, metadata=doc("Of this category; null: any number.", 10))


class RequestCostResponse(Schema):
    """How much work of a request counts as one request of the rate limit, and as at least one."""

    rows = fields.Integer(
        required=True,
        metadata=doc("Rows of a list, report or export, returned or examined because of a filter.", 100),
    )
    recipients = fields.Integer(
        required=True,
        metadata=doc(
            "Recipients of a message with placeholders, for a quote or a send that is refused. Sends that are accepted"
            " are not charged by recipients.",
            10,
        ),
    )
    body_bytes = fields.Integer(required=True, metadata=doc("Bytes of a JSON body.", 65_536))
    debt_seconds = fields.Integer(
        required=True, metadata=doc("The longest wait after a request that cost more than there was.", 5)
    )


class LimitsResponse(Schema):
    """The limits of the service and the account, and the account's backlog."""

    message_characters = fields.Integer(
        required=True, metadata=doc("The longest message, in Unicode code points.", 1600)
    )
    phones_per_request = fields.Integer(
        required=True, metadata=doc("The most recipients of one bulk send.", MAX_PHONES)
    )
    body_bytes = fields.Integer(required=True, metadata=doc("The largest body, in bytes.", 65_536))
    bulk_body_bytes = fields.Integer(
        required=True, metadata=doc("The largest body of /sms/send-bulk and /sms/quote, in bytes.", 8_388_608)
    )
    schedule_days_ahead = fields.Integer(
        required=True, metadata=doc("How far ahead a send can be scheduled, in days.", 90)
    )
    metadata_bytes = fields.Integer(required=True, metadata=doc("The largest `metadata`, in bytes.", 2048))
    token_seconds = fields.Integer(required=True, metadata=doc("How long a token is valid, in seconds.", 86_400))
    requests_per_second = fields.Integer(
        required=True, metadata=doc("Requests per second that the account may make.", 10_000)
    )
    request_cost = fields.Nested(
        RequestCostResponse,
        required=True,
        metadata=doc("What costs as much as one request; the account's next requests pay for what was too much."),
    )
    page_items = fields.Integer(required=True, metadata=doc("Maximum entries per page.", 1000))
    header_bytes = fields.Integer(required=True, metadata=doc("Bytes of a URL, and of one header.", 8192))
    head_bytes = fields.Integer(required=True, metadata=doc("Bytes of a URL and all headers together.", 32_768))
    json_keys = fields.Integer(required=True, metadata=doc("Keys of one JSON object.", 1000))
    json_values = fields.Integer(
        required=True,
        metadata=doc("Values of a JSON body, nested ones too. A body of 64 kB may have 15,000.", 1_500_000),
    )
    json_depth = fields.Integer(required=True, metadata=doc("Levels of nesting of a JSON body.", 32))
    requests_under_way = fields.Integer(
        required=True,
        metadata=doc(
            "Requests of the account that each process of the API works on; one more is `rate_limited`. Before"
            " sign-in an address has fewer.",
            512,
        ),
    )
    large_bodies_under_way = fields.Integer(
        required=True, metadata=doc("Of these, those with a body above `body_bytes`; one more waits.", 8)
    )
    exports_under_way = fields.Integer(
        required=True, metadata=doc("CSV exports that each process writes at once; one more is `rate_limited`.", 4)
    )
    page_rows_examined = fields.Integer(
        required=True,
        metadata=doc(
            "Rows that are examined for one page of a list with filters: it may be shorter than `limit` then.", 10_000
        ),
    )
    page_seconds = fields.Integer(
        required=True,
        metadata=doc("Seconds after which a statement of a list or report is ended; the answer is 503.", 5),
    )
    body_bytes_per_second = fields.Integer(
        required=True, metadata=doc("How quickly a large body arrives at least, after its first 20 seconds.", 8192)
    )
    revoked_tokens_per_key = fields.Integer(
        required=True, metadata=doc("Tokens of one API key that can be revoked in a day.", 1000)
    )
    groups = fields.Integer(required=True, metadata=doc("Groups that an account can have.", 10_000))
    idempotency_days = fields.Integer(
        required=True, metadata=doc("How long an Idempotency-Key is remembered, in days.", IDEMPOTENCY_DAYS)
    )
    backlog_messages = fields.Integer(required=True, metadata=doc("The account's messages waiting to be sent.", 0))
    backlog_limited_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("What the largest send of the backlog waits for: as `limited_by` of a send."),
    )
    backlog_eta = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Estimated time at which the last queued message is submitted; null if unknown."),
    )
    spending = fields.Nested(
        SpendingResponse, required=True, metadata=doc("What its sends may reserve in a day and a month of UTC.")
    )
    destinations = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        metadata=doc("What phones must begin with, one of these; null: anything.", ["254", "255"]),
    )
    pumping_guard = fields.String(
        required=True,
        metadata=doc(
            "What is done about one-time passwords to unusually many phones of one block or area.",
            "watch",
            enum=["off", "watch", "block"],
        ),
    )
    messages_per_phone_hour = fields.Nested(
        RecipientLimitsResponse,
        required=True,
        metadata=doc("Messages that a phone may get from the account within an hour, by category."),
    )
