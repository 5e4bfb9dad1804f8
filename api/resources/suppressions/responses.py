"""The opt-out list, as answers."""

from marshmallow import Schema, fields

from api.schemas.responses import RejectedEntryAnswer


class SuppressionAnswer(Schema):
    """A phone that has opted out, and of what."""

    phone = fields.String(required=True)
    category = fields.String(required=True, allow_none=True)
    sender_id = fields.String(required=True, allow_none=True)
    reason = fields.String(required=True)
    created_at = fields.String(required=True)


class SuppressedCountsAnswer(Schema):
    """What became of the entries."""

    submitted = fields.Integer(required=True)
    added = fields.Integer(required=True)
    unchanged = fields.Integer(required=True)
    duplicate = fields.Integer(required=True)
    invalid = fields.Integer(required=True)


class RejectedSuppressionAnswer(RejectedEntryAnswer):
    """An entry that was not taken."""


class SuppressedAnswer(Schema):
    """The valid phones are on the list."""

    counts = fields.Nested(SuppressedCountsAnswer, required=True)
    rejected = fields.List(fields.Nested(RejectedSuppressionAnswer), required=True)
    rejected_truncated = fields.Boolean()


class UnsuppressedAnswer(Schema):
    """The phone may be sent to again."""

    phone = fields.String(required=True)
    removed = fields.Integer(required=True)
