"""Schema of the tokens of operators."""

from api.schemas import fields
from api.schemas.base import Response


class OperatorTokenResponse(Response):
    """A bearer token of the operator API."""

    access_token = fields.String(
        "The token. Send it as `Authorization: Bearer …`.", "eyJ3Ijoib3BlcmF0b3Iga2V5In0.aZ8x1A.Qm9nR2s"
    )
    token_type = fields.String("Always `Bearer`.", "Bearer", one_of=["Bearer"])
    expires_in = fields.Integer("Seconds until the token expires.", 3_600)
    expires_at = fields.Timestamp("When the token expires.", "2026-03-02T10:00:00.000Z", format="date-time")
    scope = fields.String("The token's scopes, separated by spaces.", "accounts money read")
