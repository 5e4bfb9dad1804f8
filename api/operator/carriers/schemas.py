"""Schemas of carriers."""

from typing import Any

from api.operator.fields import reason
from api.schemas import fields
from api.schemas.base import Changes, Request, Response
from api.schemas.errors import fail
from api.schemas.examples import MESSAGE_ID, PHONE, SEND_ID
from api.schemas.fields import MAX_NAME_LENGTH, SENDER_ID_LENGTH
from api.schemas.paging import Paging
from shared.carriers.control import MAX_RATE, SENDER, TEXT

MAX_WINDOW = 1_000
STATES = ("ready", "paused", "down", "open")
LATELY = "of the last five minutes, null if there was none."


class Rate(fields.Float):
    """Segments per second."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise fail("wrong_type", "Use a number, such as 100, without quotes.")
        return float(value)


class CarrierChanges(Changes):
    """Changed settings of a carrier; the others stay."""

    rate = Rate(
        "Segments per second, of all workers together; 0 means unlimited.", 100, validate=fields.between(0, MAX_RATE)
    )
    window = fields.WholeNumber("Unanswered messages per worker.", 50, validate=fields.between(1, MAX_WINDOW))
    reason = reason(required=False)


class NewTestMessage(Request):
    """A test message."""

    phone = fields.Phone("Where to send it.", PHONE, required=True)
    sender_id = fields.String(
        "A sender ID that the carrier accepts.", "TEST", load_default=SENDER, validate=SENDER_ID_LENGTH
    )
    message = fields.Text("The text.", "Test", load_default=TEXT)


class RateLimitChange(Request):
    """A changed rate limit."""

    rate = Rate(
        "Segments per second; 0 lifts the limit, null means the rate of CARRIERS_FILE.",
        5,
        required=True,
        allow_none=True,
        validate=fields.between(0, MAX_RATE),
    )
    reason = reason(required=False)


class UnreadableReceiptPaging(Paging):
    """Paging through receipts that could not be parsed."""

    carrier = fields.String("Only of this carrier.", "main", validate=fields.length(1, MAX_NAME_LENGTH))


class CarrierResponse(Response):
    """A carrier as its workers report it."""

    carrier = fields.String("Its name in CARRIERS_FILE.", "main")
    status = fields.String(
        "Whether it takes messages. `open`: its circuit breaker is open, because many messages in a row failed; it"
        " is retried automatically.",
        "ready",
        attribute="state",
        one_of=STATES,
    )
    paused = fields.Boolean(
        "Whether operators have paused it. Workers follow within two seconds; after it is resumed, `status` is"
        " `paused` until then.",
        False,
    )
    since = fields.Timestamp("Since when.", "2026-03-02T09:00:00.120Z")
    error = fields.String("What it answered last; null if nothing.", allow_none=True)
    workers = fields.Integer("Workers that report it.", 2)
    ready_workers = fields.Integer("Of these, those that are ready.", 2, attribute="ready")
    rate = fields.Float("Segments per second; 0 means unlimited.", 100.0)
    allowed_rate = fields.Float(
        "Segments per second at present, less than `rate` while it throttles; 0: unlimited.", 100.0, attribute="allowed"
    )
    window = fields.Integer("Unanswered messages per worker.", 50)
    submitted = fields.Integer("Messages since the workers started: two readings show the rate in use.", 120_000)
    throttled = fields.Integer("Of these, those that were throttled and repeated.", 12)
    failed = fields.Integer("Of these, those that failed.", 40)
    waiting_batches = fields.Integer("Batches that wait for it.", 0, attribute="batches")
    response_p50_ms = fields.Integer(
        "Milliseconds that half of its responses took at most; " + LATELY, 45, allow_none=True
    )
    response_p99_ms = fields.Integer(
        "Milliseconds that 99 % of its responses took at most; " + LATELY, 480, allow_none=True
    )
    receipt_p50_seconds = fields.Float(
        "Seconds after which half of its receipts came, counted from the submit; " + LATELY, 3.2, allow_none=True
    )
    receipt_p99_seconds = fields.Float(
        "Seconds after which 99 % of its receipts had come, counted from the submit; " + LATELY, 28.4, allow_none=True
    )


class TestMessageResponse(Response):
    """The test message is on its way."""

    carrier = fields.String("The carrier.", "main")
    send_id = fields.UUID("The send.", SEND_ID)
    message_id = fields.UUID("Its message.", MESSAGE_ID)


class RateLimitResponse(Response):
    """A rate limit of a sender ID or a prefix."""

    limit_name = fields.String("Its name.", "sender ACME", attribute="limit")
    rate = fields.Float("Segments per second; 0: lifted.", 5.0)
    rate_in_file = fields.Float("Segments per second in CARRIERS_FILE.", 10.0, attribute="in_file")
    batches = fields.Integer("Batches in the queue that it applies to.", 3)


class UnreadableReceiptResponse(Response):
    """A receipt that could not be parsed."""

    carrier = fields.String("The carrier.", "main")
    reason = fields.String("Why it could not be parsed.", "unknown_status")
    received_at = fields.Timestamp("When it came.", "2026-03-02T09:00:00.120Z")
    text = fields.String("As text, with `.` for octets that cannot be printed.", "id:17 stat:HANDED")
    hex = fields.String("In hexadecimal.", "69643a3137")
