"""Schemas of credentials and tokens."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import TOKEN
from api.schemas.fields import Request, doc


class Credentials(Request):
    """An API key and its secret. The headers X-API-Key and X-API-Secret can be used instead."""

    api_key = fields.String(required=True, metadata=doc("The API key.", "your-api-key"))
    api_secret = fields.String(required=True, metadata=doc("The API key's secret.", "your-api-secret"))


class RevokeToken(Request):
    """The token to revoke; without it, the one in use."""

    token = fields.String(metadata=doc("The token to revoke; without it, the one in use.", TOKEN))


class TokenResponse(Schema):
    """A bearer token."""

    access_token = fields.String(required=True, metadata=doc("The token. Send it as `Authorization: Bearer …`.", TOKEN))
    token_type = fields.String(required=True, metadata=doc("Always `Bearer`.", "Bearer", enum=["Bearer"]))
    expires_in = fields.Integer(required=True, metadata=doc("Seconds until the token expires.", 86_400))
    expires_at = fields.Timestamp(
        required=True,
        metadata=doc("When the token expires.", "2026-03-03T09:00:00.000Z", format="date-time"),
    )
    scope = fields.String(
        required=True,
        metadata=doc("The token's scopes, separated by spaces.", "balance:read groups:read sms:read sms:send"),
    )


class RevokedResponse(Schema):
    """The token is revoked."""

    revoked = fields.Boolean(required=True, metadata=doc("The token is revoked.", True))
