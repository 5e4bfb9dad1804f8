"""Sends and messages, as answers."""

from marshmallow import Schema, fields

from api.accept.responses import BulkSegmentsAnswer


class StopRuleAnswer(Schema):
    """When the send is to be held."""

    failed_share = fields.Float(required=True)
    over = fields.Integer(required=True)


class CapAnswer(Schema):
    """How many messages of the category a phone gets."""

    most = fields.Integer(required=True)
    hours = fields.Integer(required=True)


QuietHoursRuleAnswer = Schema.from_dict(
    {name: fields.String(required=True) for name in ("from", "until")}, name="QuietHoursRule"
)
"""When nothing is sent, by the clock of the recipient."""


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
    callback_url = fields.String(required=True, allow_none=True)
    rate = fields.Integer(required=True, allow_none=True)
    stop_if = fields.Nested(StopRuleAnswer, required=True, allow_none=True)
    quiet_hours = fields.Nested(QuietHoursRuleAnswer, required=True, allow_none=True)
    cap = fields.Nested(CapAnswer, required=True, allow_none=True)
    canary = fields.Integer(required=True, allow_none=True)
    eta = fields.String(required=True, allow_none=True)
    limited_by = fields.String(required=True, allow_none=True)
    resent = fields.Integer(required=True)
    held_by = fields.String(required=True, allow_none=True)
    held_reason = fields.String(required=True, allow_none=True)
    send_at = fields.String(required=True, allow_none=True)
    expires_at = fields.String(required=True)
    test = fields.Boolean(required=True)
    messages_url = fields.String(required=True)
    created_at = fields.String(required=True)
    completed_at = fields.String(required=True, allow_none=True)


class MessageErrorAnswer(Schema):
    """Why a message did not arrive, or is in doubt."""

    code = fields.String(required=True)
    permanent = fields.Boolean(required=True)
    carrier = fields.String(required=True, allow_none=True)
    carrier_code = fields.String(required=True, allow_none=True)
    text = fields.String(required=True)


class MessageAnswer(Schema):
    """One SMS to one phone."""

    message_id = fields.UUID(required=True)
    send_id = fields.UUID(required=True)
    phone = fields.String(required=True, allow_none=True)
    status = fields.String(required=True)
    sender_id = fields.String(required=True)
    segments = fields.Integer(required=True)
    cost = fields.Integer(required=True)
    category = fields.String(required=True)
    carrier = fields.String(required=True, allow_none=True)
    country = fields.String(required=True, allow_none=True)
    group_id = fields.UUID(required=True, allow_none=True)
    error = fields.Nested(MessageErrorAnswer, required=True, allow_none=True)
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
    route = fields.String(allow_none=True)
    carrier_reference = fields.String(allow_none=True)
    attempts = fields.Integer()
    error = fields.Nested(MessageErrorAnswer, allow_none=True)
    detail = fields.String()
    carrier_at = fields.String(allow_none=True)
    carrier_at_precision = fields.String(allow_none=True)
    resolved_by = fields.String(allow_none=True)
    evidence = fields.String(allow_none=True)


class AttemptAnswer(Schema):
    """One submit of a message to a carrier."""

    carrier = fields.String(required=True, allow_none=True)
    route = fields.String(required=True, allow_none=True)
    submitted_at = fields.String(required=True)
    answered_at = fields.String(required=True, allow_none=True)
    answer = fields.String(required=True)
    carrier_code = fields.String(required=True, allow_none=True)
    latency_ms = fields.Integer(required=True, allow_none=True)


class DoubtAnswer(Schema):
    """A message left and no answer came."""

    since = fields.String(required=True)
    reason = fields.String(required=True)
    resolved_at = fields.String(required=True, allow_none=True)
    resolved_by = fields.String(required=True, allow_none=True)
    evidence = fields.String(required=True, allow_none=True)


class MessageDetailAnswer(MessageAnswer):
    """One SMS to one phone, with its text and all that happened to it."""

    text = fields.String(required=True, allow_none=True)
    encoding = fields.String(required=True)
    parts = fields.List(fields.String(), required=True)
    attempts = fields.List(fields.Nested(AttemptAnswer), required=True)
    timeline = fields.List(fields.Nested(EventAnswer), required=True)
    doubt = fields.Nested(DoubtAnswer, required=True, allow_none=True)


class EventsAnswer(Schema):
    """The timeline of one message, oldest first."""

    message_id = fields.UUID(required=True)
    data = fields.List(fields.Nested(EventAnswer), required=True)
