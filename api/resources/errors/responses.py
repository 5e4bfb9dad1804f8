"""The catalogue of errors, as an answer."""

from marshmallow import Schema, fields


class FieldCodeAnswer(Schema):
    """What can be wrong with one field, explained."""

    code = fields.String(required=True)
    remediation = fields.String(required=True)


class ErrorEntryAnswer(Schema):
    """An error code, explained."""

    code = fields.String(required=True)
    kind = fields.String(required=True)
    status = fields.Integer(required=True, allow_none=True)
    permanent = fields.Boolean(required=True, allow_none=True)
    title = fields.String(required=True)
    meaning = fields.String(required=True, allow_none=True)
    remediation = fields.String(required=True)
    retryable = fields.Boolean(required=True)
    field_codes = fields.List(fields.Nested(FieldCodeAnswer))
