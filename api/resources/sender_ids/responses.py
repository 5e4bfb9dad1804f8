"""Sender IDs, as answers."""

from marshmallow import Schema, fields


class SenderAnswer(Schema):
    """A sender ID and where it stands."""

    id = fields.UUID(required=True)
    sender_id = fields.String(required=True)
    form = fields.String(required=True)
    status = fields.String(required=True)
    reason = fields.String(required=True, allow_none=True)
    use_case = fields.String(required=True, allow_none=True)
    created_at = fields.String(required=True)
    decided_at = fields.String(required=True, allow_none=True)


class DeletedAnswer(Schema):
    """It is gone."""

    deleted = fields.Boolean(required=True)
