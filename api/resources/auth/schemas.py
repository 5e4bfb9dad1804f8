"""Keys and tokens, as requests."""

from marshmallow import fields

from api.schemas.base import Request


class Credentials(Request):
    """An API key and its secret; the headers X-API-Key and X-API-Secret do as well."""

    api_key = fields.String(required=True)
    api_secret = fields.String(required=True)


class RevokeToken(Request):
    """The token to revoke; without it, the one in use."""

    token = fields.String()
