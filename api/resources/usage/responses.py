"""Usage, as an answer."""

from marshmallow import Schema, fields


class UsageAnswer(Schema):
    """Messages with a result, counted. What they were not counted by is null."""

    day = fields.String(required=True, allow_none=True, metadata={"format": "date"})
    sender_id = fields.String(required=True, allow_none=True)
    country = fields.String(required=True, allow_none=True)
    category = fields.String(required=True, allow_none=True)
    status = fields.String(required=True, allow_none=True)
    messages = fields.Integer(required=True)
    credits = fields.Integer(required=True)


class UsagePageAnswer(Schema):
    """A page of counts, and how fresh they are."""

    data = fields.List(fields.Nested(UsageAnswer), required=True)
    next_cursor = fields.String(required=True, allow_none=True)
    counted_at = fields.String(required=True, allow_none=True)
