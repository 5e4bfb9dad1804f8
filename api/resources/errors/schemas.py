"""Schemas of the catalogues of errors."""

from api.schemas import fields
from api.schemas.base import Request, Response


class ErrorQuery(Request):
    """Which errors to list."""

    kind = fields.Choice(
        ["request", "message"],
        "The kind of errors to list: `request` or `message`.",
        "message",
        load_default="request",
        error="Use `request` or `message`.",
    )


class FieldCodeResponse(Response):
    """An error code of a single field, explained."""

    code = fields.String("What is wrong with the field.", "invalid_phone")
    remediation = fields.String("What to do about it.", "Send digits only, beginning with the country code.")


class ErrorEntryResponse(Response):
    """An error code, explained."""

    code = fields.String("Machine-readable code.", "low_balance")
    kind = fields.String("Whether requests or messages have this error.", "request", one_of=["request", "message"])
    status = fields.Integer("The HTTP status; null for message errors.", 402, allow_none=True)
    permanent = fields.Boolean(
        "Whether the same message would fail again; null for request errors.", False, allow_none=True
    )
    title = fields.String("Human-readable summary.", "Low balance")
    meaning = fields.String("Human-readable explanation; null for request errors.", allow_none=True)
    remediation = fields.String("What to do about it.", "Top up, or send to fewer recipients.")
    retryable = fields.Boolean("Whether the same request may succeed later.", False)
    field_codes = fields.List(
        fields.Nested(FieldCodeResponse), "For `validation_failed`: the codes of single fields.", required=False
    )
