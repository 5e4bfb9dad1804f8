"""What answers look like; the OpenAPI document is made of it."""

from functools import cache

from marshmallow import Schema, fields


@cache
def page_of(item: type[Schema]) -> type[Schema]:
    """The schema of a list of such items."""
    return Schema.from_dict(
        {
            "data": fields.List(fields.Nested(item), required=True),
            "next_cursor": fields.String(required=True, allow_none=True),
        },
        name=item.__name__.replace("Answer", "Page"),
    )


class ErrorAnswer(Schema):
    """RFC 9457 problem details."""

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    instance = fields.String(required=True)
    code = fields.String(required=True)
    request_id = fields.String(required=True)
    retryable = fields.Boolean(required=True)
    remediation = fields.String(required=True)


class TokenAnswer(Schema):
    """A bearer token."""

    access_token = fields.String(required=True)
    token_type = fields.String(required=True, metadata={"enum": ["Bearer"]})
    expires_in = fields.Integer(required=True)
    expires_at = fields.String(required=True, metadata={"format": "date-time"})
    scope = fields.String(required=True)


class SegmentsAnswer(Schema):
    """How one message is cut."""

    count = fields.Integer(required=True)
    encoding = fields.String(required=True, metadata={"enum": ["gsm7", "ucs2"]})
    characters = fields.Integer(required=True)


class SingleAnswer(Schema):
    """An accepted message."""

    send_id = fields.UUID(required=True)
    message_id = fields.UUID(required=True)
    status = fields.String(required=True)
    sender_id = fields.String(required=True)
    phone = fields.String(required=True)
    segments = fields.Nested(SegmentsAnswer, required=True)
    cost = fields.Integer(required=True)
    balance = fields.Integer(required=True)
    category = fields.String(required=True)
    reference = fields.String(required=True, allow_none=True)
    send_at = fields.String(required=True, allow_none=True)
    expires_at = fields.String(required=True)
    test = fields.Boolean(required=True)
    created_at = fields.String(required=True)


class CountsAnswer(Schema):
    """Recipients of one request."""

    submitted = fields.Integer(required=True)
    accepted = fields.Integer(required=True)
    duplicate = fields.Integer(required=True)
    invalid = fields.Integer(required=True)
    suppressed = fields.Integer(required=True)


class BulkSegmentsAnswer(Schema):
    """Segments of one message, and of all."""

    per_message = fields.Integer(required=True)
    encoding = fields.String(required=True)
    total = fields.Integer(required=True)


class RejectedAnswer(Schema):
    """A recipient that was not accepted."""

    index = fields.Integer(required=True)
    phone = fields.String(required=True, allow_none=True)
    code = fields.String(required=True)
    detail = fields.String()
    suggestion = fields.String()
    duplicate_of = fields.Integer()


class AcceptedAnswer(Schema):
    """A recipient's message."""

    message_id = fields.UUID(required=True)
    phone = fields.String(required=True)


class BulkAnswer(Schema):
    """An accepted bulk or group send."""

    send_id = fields.UUID(required=True)
    status = fields.String(required=True)
    sender_id = fields.String(required=True)
    group_id = fields.UUID(required=True, allow_none=True)
    counts = fields.Nested(CountsAnswer, required=True)
    segments = fields.Nested(BulkSegmentsAnswer, required=True)
    cost = fields.Integer(required=True)
    balance = fields.Integer(required=True)
    rejected = fields.List(fields.Nested(RejectedAnswer), required=True)
    rejected_truncated = fields.Boolean()
    messages = fields.List(fields.Nested(AcceptedAnswer), required=True)
    messages_truncated = fields.Boolean()
    messages_url = fields.String(required=True)
    category = fields.String(required=True)
    reference = fields.String(required=True, allow_none=True)
    send_at = fields.String(required=True, allow_none=True)
    expires_at = fields.String(required=True)
    test = fields.Boolean(required=True)
    created_at = fields.String(required=True)


class QuoteAnswer(Schema):
    """What a send would cost and reject."""

    counts = fields.Nested(CountsAnswer, required=True)
    segments = fields.Nested(BulkSegmentsAnswer, required=True)
    parts = fields.List(fields.String(), required=True)
    cost = fields.Integer(required=True)
    balance = fields.Integer(required=True)
    sufficient = fields.Boolean(required=True)
    rejected = fields.List(fields.Nested(RejectedAnswer), required=True)
    rejected_truncated = fields.Boolean()


class BalanceAnswer(Schema):
    """What can be spent, and what is reserved."""

    balance = fields.Integer(required=True)
    reserved = fields.Integer(required=True)
    unit = fields.String(required=True)
    low_balance_threshold = fields.Integer(required=True)
    updated_at = fields.String(required=True)


class TransactionAnswer(Schema):
    """A row of the ledger."""

    id = fields.Integer(required=True)
    kind = fields.String(required=True)
    amount = fields.Integer(required=True)
    debit = fields.String(required=True)
    credit = fields.String(required=True)
    send_id = fields.UUID(required=True, allow_none=True)
    batch_id = fields.UUID(required=True, allow_none=True)
    message_id = fields.UUID(required=True, allow_none=True)
    reason = fields.String(required=True, allow_none=True)
    created_at = fields.String(required=True)


class GroupAnswer(Schema):
    """A contact group."""

    group_id = fields.UUID(required=True)
    name = fields.String(required=True)
    contact_count = fields.Integer(required=True)
    created_at = fields.String(required=True)
    updated_at = fields.String(required=True)


class SendAnswer(Schema):
    """An accepted request and what has become of it."""

    send_id = fields.UUID(required=True)
    kind = fields.String(required=True)
    status = fields.String(required=True)
    sender_id = fields.String(required=True)
    message = fields.String(required=True)
    group_id = fields.UUID(required=True, allow_none=True)
    counts = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    segments = fields.Nested(BulkSegmentsAnswer, required=True)
    cost = fields.Integer(required=True)
    charged = fields.Integer(required=True)
    category = fields.String(required=True)
    reference = fields.String(required=True, allow_none=True)
    metadata = fields.Dict(required=True, allow_none=True)
    rate = fields.Integer(required=True, allow_none=True)
    eta = fields.String(required=True, allow_none=True)
    resent = fields.Integer(required=True)
    held_reason = fields.String(required=True, allow_none=True)
    send_at = fields.String(required=True, allow_none=True)
    expires_at = fields.String(required=True)
    test = fields.Boolean(required=True)
    messages_url = fields.String(required=True)
    created_at = fields.String(required=True)
    completed_at = fields.String(required=True, allow_none=True)


class MessageAnswer(Schema):
    """One SMS to one phone."""

    message_id = fields.UUID(required=True)
    send_id = fields.UUID(required=True)
    phone = fields.String(required=True)
    status = fields.String(required=True)
    sender_id = fields.String(required=True)
    segments = fields.Integer(required=True)
    cost = fields.Integer(required=True)
    error = fields.String(required=True, allow_none=True)
    reference = fields.String(required=True, allow_none=True)
    test = fields.Boolean(required=True)
    submitted_at = fields.String(required=True, allow_none=True)
    finished_at = fields.String(required=True, allow_none=True)
    created_at = fields.String(required=True)


class EventAnswer(Schema):
    """Something that happened to a message."""

    at = fields.String(required=True)
    type = fields.String(required=True)
    carrier = fields.String()
    carrier_reference = fields.String(allow_none=True)
    attempts = fields.Integer()
    error = fields.String(allow_none=True)
    detail = fields.String()


class EventsAnswer(Schema):
    """The timeline of one message, oldest first."""

    message_id = fields.UUID(required=True)
    data = fields.List(fields.Nested(EventAnswer), required=True)


class RevokedAnswer(Schema):
    """The token is dead."""

    revoked = fields.Boolean(required=True)


class FieldCodeAnswer(Schema):
    """What can be wrong with one field, explained."""

    code = fields.String(required=True)
    remediation = fields.String(required=True)


class ErrorEntryAnswer(Schema):
    """An error code, explained."""

    code = fields.String(required=True)
    status = fields.Integer(required=True)
    title = fields.String(required=True)
    remediation = fields.String(required=True)
    retryable = fields.Boolean(required=True)
    field_codes = fields.List(fields.Nested(FieldCodeAnswer))


class LimitsAnswer(Schema):
    """What the service takes at most, and the account's backlog."""

    message_characters = fields.Integer(required=True)
    phones_per_request = fields.Integer(required=True)
    body_bytes = fields.Integer(required=True)
    bulk_body_bytes = fields.Integer(required=True)
    schedule_days_ahead = fields.Integer(required=True)
    metadata_bytes = fields.Integer(required=True)
    token_seconds = fields.Integer(required=True)
    requests_per_second = fields.Integer(required=True)
    page_items = fields.Integer(required=True)
    idempotency_days = fields.Integer(required=True)
    backlog_messages = fields.Integer(required=True)
