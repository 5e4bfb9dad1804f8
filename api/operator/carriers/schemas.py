"""Schemas of carriers."""

from typing import Any

from marshmallow import Schema, validate, validates_schema

from api.operator.fields import reason
from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.examples import MESSAGE_ID, PHONE, SEND_ID
from api.schemas.fields import IN_RANGE, MAX_NAME_LENGTH, SENDER_ID_LENGTH, Request, doc
from api.schemas.paging import Paging
from shared.carriers.control import MAX_RATE, SENDER

MAX_WINDOW = 1_000
STATES = ("ready", "paused", "down", "open")
LATELY = "of the last five minutes, null if there was none."


class Rate(fields.Float):
    """Segments per second."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise fail("wrong_type", "Use a number, such as 100, without quotes.")
        return float(value)


class CarrierChanges(Request):
    """Changed settings of a carrier; the others stay."""

    rate = Rate(
        validate=validate.Range(0, MAX_RATE, error=IN_RANGE),
        metadata=doc("Segments per second, of all workers together; 0 means unlimited.", 100),
    )
    window = fields.WholeNumber(
        validate=validate.Range(1, MAX_WINDOW, error=IN_RANGE), metadata=doc("Unanswered messages per worker.", 50)
    )
    reason = reason(required=False)

    @validates_schema
    def not_empty(self, data: dict[str, Any], **_: Any) -> None:
        """At least one field must be given."""
        if not data.keys() - {"reason"}:
            raise fail("required", "Provide `rate` or `window`.")


class NewTestMessage(Request):
    """A test message."""

    phone = fields.Phone(required=True, metadata=doc("Where to send it.", PHONE))
    sender_id = fields.String(
        load_default=SENDER,
        validate=SENDER_ID_LENGTH,
        metadata=doc("A sender ID that the carrier accepts.", "TEST"),
    )
    message = fields.Text(load_default="Test", metadata=doc("The text.", "Test"))


class RateLimitChange(Request):
    """A changed rate limit."""

    rate = Rate(
        required=True,
        allow_none=True,
        validate=validate.Range(0, MAX_RATE, error=IN_RANGE),
        metadata=doc("Segments per second; 0 lifts the limit, null means the rate of CARRIERS_FILE.", 5),
    )
    reason = reason(required=False)


class UnreadableReceiptPaging(Paging):
    """Paging through receipts that could not be parsed."""

    carrier = fields.String(
        validate=validate.Length(1, MAX_NAME_LENGTH, error="Use {min} to {max} characters."),
        metadata=doc("Only of this carrier.", "main"),
    )


class CarrierResponse(Schema):
    """A carrier as its workers report it."""

    carrier = fields.String(required=True, metadata=doc("Its name in CARRIERS_FILE.", "main"))
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc(
            "Whether it takes messages. `open`: its circuit breaker is open, because many messages in a row failed; it"
            " is retried automatically.",
            "ready",
            enum=[*STATES],
        ),
    )
    paused = fields.Boolean(
        required=True,
        metadata=doc(
            "Whether operators have paused it. Workers follow within two seconds; after it is resumed, `status` is"
            " `paused` until then.",
            False,
        ),
    )
    since = fields.Timestamp(required=True, metadata=doc("Since when.", "2026-03-02T09:00:00.120Z"))
    error = fields.String(required=True, allow_none=True, metadata=doc("What it answered last; null if nothing."))
    workers = fields.Integer(required=True, metadata=doc("Workers that report it.", 2))
    ready_workers = fields.Integer(required=True, attribute="ready", metadata=doc("Of these, those that are ready.", 2))
    rate = fields.Float(required=True, metadata=doc("Segments per second; 0 means unlimited.", 100.0))
    allowed_rate = fields.Float(
        required=True,
        attribute="allowed",
        metadata=doc("Segments per second at present, less than `rate` while it throttles; 0: unlimited.", 100.0),
    )
    window = fields.Integer(required=True, metadata=doc("Unanswered messages per worker.", 50))
    submitted = fields.Integer(
        required=True,
        metadata=doc("Messages since the workers started: two readings show the rate in use.", 120_000),
    )
    throttled = fields.Integer(required=True, metadata=doc("Of these, those that were throttled and repeated.", 12))
    failed = fields.Integer(required=True, metadata=doc("Of these, those that failed.", 40))
    waiting_batches = fields.Integer(required=True, attribute="batches", metadata=doc("Batches that wait for it.", 0))
    response_p50_ms = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Milliseconds that half of its responses took at most; " + LATELY, 45),
    )
    response_p99_ms = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Milliseconds that 99 % of its responses took at most; " + LATELY, 480),
    )
    receipt_p50_seconds = fields.Float(
        required=True,
        allow_none=True,
        metadata=doc("Seconds after which half of its receipts came, counted from the submit; " + LATELY, 3.2),
    )
    receipt_p99_seconds = fields.Float(
        required=True,
        allow_none=True,
        metadata=doc("Seconds after which 99 % of its receipts had come, counted from the submit; " + LATELY, 28.4),
    )


class CarriersResponse(Schema):
    """The carriers."""

    data = fields.List(fields.Nested(CarrierResponse), required=True, metadata=doc("The carriers, by name."))


class TestMessageResponse(Schema):
    """The test message is on its way."""

    carrier = fields.String(required=True, metadata=doc("The carrier.", "main"))
    send_id = fields.UUID(required=True, metadata=doc("The send.", SEND_ID))
    message_id = fields.UUID(required=True, metadata=doc("Its message.", MESSAGE_ID))


class RateLimitResponse(Schema):
    """A rate limit of a sender ID or a prefix."""

    limit_name = fields.String(required=True, attribute="limit", metadata=doc("Its name.", "sender ACME"))
    rate = fields.Float(required=True, metadata=doc("Segments per second; 0: lifted.", 5.0))
    rate_in_file = fields.Float(
        required=True, attribute="in_file", metadata=doc("Segments per second in CARRIERS_FILE.", 10.0)
    )
    batches = fields.Integer(required=True, metadata=doc("Batches in the queue that it applies to.", 3))


class RateLimitsResponse(Schema):
    """The rate limits."""

    data = fields.List(fields.Nested(RateLimitResponse), required=True, metadata=doc("The rate limits, by name."))


class UnreadableReceiptResponse(Schema):
    """A receipt that could not be parsed."""

    carrier = fields.String(required=True, metadata=doc("The carrier.", "main"))
    reason = fields.String(required=True, metadata=doc("Why it could not be parsed.", "unknown_status"))
    received_at = fields.Timestamp(required=True, metadata=doc("When it came.", "2026-03-02T09:00:00.120Z"))
    text = fields.String(
        required=True, metadata=doc("As text, with `.` for octets that cannot be printed.", "id:17 stat:HANDED")
    )
    hex = fields.String(required=True, metadata=doc("In hexadecimal.", "69643a3137"))
