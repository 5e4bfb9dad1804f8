"""Answers about tokens."""

from marshmallow import Schema, fields


class TokenAnswer(Schema):
    """A bearer token."""

    access_token = fields.String(required=True)
    token_type = fields.String(required=True, metadata={"enum": ["Bearer"]})
    expires_in = fields.Integer(required=True)
    expires_at = fields.String(required=True, metadata={"format": "date-time"})
    scope = fields.String(required=True)


class RevokedAnswer(Schema):
    """The token is dead."""

    revoked = fields.Boolean(required=True)
