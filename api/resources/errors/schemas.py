"""Schemas of the catalogues of errors."""

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.fields import Request, doc


class ErrorQuery(Request):
    """Which errors to list."""

    kind = fields.String(
        load_default="request",
        validate=validate.OneOf(["request", "message"], error="Use `request` or `message`."),
        metadata=doc("The kind of errors to list: `request` or `message`.", "message"),
    )


class FieldCodeResponse(Schema):
    """An error code of a single field, explained."""

    code = fields.String(required=True, metadata=doc("What is wrong with the field.", "invalid_phone"))
    remediation = fields.String(
        required=True, metadata=doc("What to do about it.", "Send digits only, beginning with the country code.")
    )


class ErrorEntryResponse(Schema):
    """An error code, explained."""

    code = fields.String(required=True, metadata=doc("Machine-readable code.", "low_balance"))
    kind = fields.String(
        required=True,
        metadata=doc("Whether requests or messages have this error.", "request", enum=["request", "message"]),
    )
    status = fields.Integer(
        required=True, allow_none=True, metadata=doc("The HTTP status; null for message errors.", 402)
    )
    permanent = fields.Boolean(
        required=True,
        allow_none=True,
        metadata=doc("Whether the same message would fail again; null for request errors.", False),
    )
    title = fields.String(required=True, metadata=doc("Human-readable summary.", "Low balance"))
    meaning = fields.String(
        required=True, allow_none=True, metadata=doc("Human-readable explanation; null for request errors.")
    )
    remediation = fields.String(
        required=True, metadata=doc("What to do about it.", "Top up, or send to fewer recipients.")
    )
    retryable = fields.Boolean(required=True, metadata=doc("Whether the same request may succeed later.", False))
    field_codes = fields.List(
        fields.Nested(FieldCodeResponse), metadata=doc("For `validation_failed`: the codes of single fields.")
    )
