"""API keys, as answers."""

from marshmallow import Schema, fields


class ApiKeyAnswer(Schema):
    """An API key, without its secret."""

    api_key = fields.String(required=True)
    name = fields.String(required=True, allow_none=True)
    test = fields.Boolean(required=True)
    scopes = fields.List(fields.String(), required=True)
    allowed_ips = fields.List(fields.String(), required=True, allow_none=True)
    requests_per_second = fields.Integer(required=True, allow_none=True)
    created_at = fields.String(required=True)
    expires_at = fields.String(required=True, allow_none=True)
    last_used_at = fields.String(required=True, allow_none=True)
    old_secret_expires_at = fields.String(required=True, allow_none=True)


class NewApiKeyAnswer(ApiKeyAnswer):
    """A new API key, with its secret: it is shown now and never again, so an answer that is told again has none."""

    api_secret = fields.String()


class RotatedApiKeyAnswer(Schema):
    """The new secret: it is shown now and never again, so an answer that is told again has none."""

    api_key = fields.String(required=True)
    api_secret = fields.String()
    old_secret_expires_at = fields.String(required=True)


class RevokedApiKeyAnswer(Schema):
    """The key is revoked."""

    api_key = fields.String(required=True)
    revoked = fields.Boolean(required=True)
