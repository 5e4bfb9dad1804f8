"""Schema of the tokens of operators."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.fields import doc


class OperatorTokenResponse(Schema):
    """A bearer token of the operator API."""

    access_token = fields.String(
        required=True,
        metadata=doc("The token. Send it as `Authorization: Bearer …`.", "eyJ3Ijoib3BlcmF0b3Iga2V5In0.aZ8x1A.Qm9nR2s"),
    )
    token_type = fields.String(required=True, metadata=doc("Always `Bearer`.", "Bearer", enum=["Bearer"]))
    expires_in = fields.Integer(required=True, metadata=doc("Seconds until the token expires.", 3_600))
    expires_at = fields.Timestamp(
        required=True, metadata=doc("When the token expires.", "2026-03-02T10:00:00.000Z", format="date-time")
    )
    scope = fields.String(
        required=True, metadata=doc("The token's scopes, separated by spaces.", "accounts money read")
    )
