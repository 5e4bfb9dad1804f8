"""Messages from phones, as answers."""

from marshmallow import Schema, fields


class InboundAnswer(Schema):
    """A message from a phone."""

    inbound_id = fields.UUID(required=True)
    phone = fields.String(required=True)
    sender_id = fields.String(required=True)
    message = fields.String(required=True)
    keyword = fields.String(required=True, allow_none=True)
    segments = fields.Integer(required=True)
    missing_segments = fields.Integer(required=True)
    carrier = fields.String(required=True)
    received_at = fields.String(required=True)
