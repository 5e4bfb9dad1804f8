"""What a send answers."""

from marshmallow import Schema, fields


class SegmentsAnswer(Schema):
    """How one message is cut."""

    count = fields.Integer(required=True)
    encoding = fields.String(required=True, metadata={"enum": ["gsm7", "ucs2"]})
    characters = fields.Integer(required=True)


class CharacterAnswer(Schema):
    """A character that is not in GSM-7."""

    index = fields.Integer(required=True)
    char = fields.String(required=True)
    codepoint = fields.String(required=True)
    replacement = fields.String(required=True, allow_none=True)


class AlternativeAnswer(Schema):
    """The text in GSM-7, as `on_unicode: transliterate` would send it, and its price."""

    text = fields.String(required=True)
    segments = fields.Integer(required=True)
    cost = fields.Integer(required=True)


class EncodingAnswer(Schema):
    """Why the text is UCS-2, or what was changed for it not to be. Absent where the text is GSM-7 as it was given."""

    name = fields.String(required=True, metadata={"enum": ["gsm7", "ucs2"]})
    cause = fields.List(fields.Nested(CharacterAnswer), required=True)
    cause_count = fields.Integer(required=True)
    changed = fields.List(fields.Nested(CharacterAnswer), required=True)
    changed_count = fields.Integer(required=True)
    gsm7_alternative = fields.Nested(AlternativeAnswer, required=True, allow_none=True)


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
    simulated = fields.Boolean()
    created_at = fields.String(required=True)
    encoding = fields.Nested(EncodingAnswer)


class CountsAnswer(Schema):
    """Recipients of one request."""

    submitted = fields.Integer(required=True)
    accepted = fields.Integer(required=True)
    duplicate = fields.Integer(required=True)
    invalid = fields.Integer(required=True)
    suppressed = fields.Integer(required=True)


class BulkSegmentsAnswer(Schema):
    """Segments of one message, and of all."""

    per_message = fields.Integer(required=True, allow_none=True)
    encoding = fields.String(required=True)
    total = fields.Integer(required=True)


class RejectedAnswer(Schema):
    """A recipient that was not accepted."""

    index = fields.Integer(required=True, allow_none=True)
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
    simulated = fields.Boolean()
    created_at = fields.String(required=True)
    encoding = fields.Nested(EncodingAnswer)


class QuoteAnswer(Schema):
    """What a send would cost and reject."""

    counts = fields.Nested(CountsAnswer, required=True)
    segments = fields.Nested(BulkSegmentsAnswer, required=True)
    parts = fields.List(fields.String(), required=True)
    cost = fields.Integer(required=True)
    quote_id = fields.UUID(required=True)
    quote_expires_at = fields.String(required=True)
    balance = fields.Integer(required=True)
    sufficient = fields.Boolean(required=True)
    rejected = fields.List(fields.Nested(RejectedAnswer), required=True)
    rejected_truncated = fields.Boolean()
    encoding = fields.Nested(EncodingAnswer)
