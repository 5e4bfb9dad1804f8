"""Schema of the tokens of operators."""

from api.resources.auth.schemas import TokenResponse
from api.schemas import fields


class OperatorTokenResponse(TokenResponse):
    """A bearer token of the operator API."""

    expires_in = fields.Integer("Seconds until the token expires.", 3_600)
    expires_at = fields.Timestamp("When the token expires.", "2026-03-02T10:00:00.000Z", format="date-time")
    scope = fields.String("The token's scopes, separated by spaces.", "accounts money read")
