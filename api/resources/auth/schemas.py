"""Schemas of credentials and tokens."""

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import TOKEN


class Credentials(Request):
    """An API key and its secret. The headers X-API-Key and X-API-Secret can be used instead."""

    api_key = fields.String("The API key.", "your-api-key", required=True)
    api_secret = fields.String("The API key's secret.", "your-api-secret", required=True)


class RevokeToken(Request):
    """The token to revoke; without it, the one in use."""

    token = fields.String("The token to revoke; without it, the one in use.", TOKEN)


class TokenResponse(Response):
    """A bearer token."""

    access_token = fields.String("The token. Send it as `Authorization: Bearer …`.", TOKEN)
    token_type = fields.String("Always `Bearer`.", "Bearer", one_of=["Bearer"])
    expires_in = fields.Integer("Seconds until the token expires.", 86_400)
    expires_at = fields.Timestamp("When the token expires.", "2026-03-03T09:00:00.000Z", format="date-time")
    scope = fields.String("The token's scopes, separated by spaces.", "balance:read groups:read sms:read sms:send")


class RevokedResponse(Response):
    """The token is revoked."""

    revoked = fields.Boolean("The token is revoked.", True)
