"""Erasures, as answers."""

from marshmallow import Schema, fields


class ErasureCountsAnswer(Schema):
    """What was erased."""

    messages = fields.Integer(required=True)
    texts = fields.Integer(required=True)
    contacts = fields.Integer(required=True)
    inbound = fields.Integer(required=True)


class ErasureAnswer(Schema):
    """The erasure of a person: a receipt, which does not name the phone."""

    erasure_id = fields.UUID(required=True)
    status = fields.String(required=True)
    counts = fields.Nested(ErasureCountsAnswer, required=True)
    created_at = fields.String(required=True)
    completed_at = fields.String(required=True, allow_none=True)
