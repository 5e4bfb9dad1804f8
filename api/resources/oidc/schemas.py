"""Schemas of signing in through the provider."""

from marshmallow import validate

from api.resources.invitations.schemas import TOKEN
from api.resources.sign_in.schemas import SESSION_EXPIRES_AT
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.people import MAX_SECRET_LENGTH

MAX_CODE_LENGTH, MAX_STATE_LENGTH, MAX_ATTEMPT_LENGTH = 4096, 128, 1024
"""Characters. Some providers have codes of more than 1,000."""


class OidcBegunResponse(Response):
    """Where to send the browser, and what to keep until it comes back."""

    authorization_url = fields.String(
        "Send the person's browser there.", "https://id.acme.example/authorize?response_type=code&…"
    )
    attempt = fields.String(
        "Keep it where only this browser has it, such as its cookie, for POST /api/v1/sign-in/oidc/complete.",
        "gAAAAABp…",
    )
    expires_at = fields.Timestamp("When the attempt expires.", SESSION_EXPIRES_AT)


def _returned(description: str, example: str, longest: int) -> fields.String:
    return fields.String(
        description,
        example,
        required=True,
        validate=validate.Length(1, longest, error="It has at most {max} characters."),
    )


class OidcReturned(Request):
    """What the browser has brought back, with the attempt that it began."""

    attempt = _returned("The attempt that this browser began.", "gAAAAABp…", MAX_ATTEMPT_LENGTH)
    state = _returned("The `state` of the provider's response.", "<state of the response>", MAX_STATE_LENGTH)
    code = _returned("The `code` of the provider's response.", "<code of the response>", MAX_CODE_LENGTH)
    invitation_token = fields.String(
        "The token of an invitation to accept; it must be for the same e-mail address.",
        TOKEN,
        validate=validate.Length(1, MAX_SECRET_LENGTH, error="The token has at most {max} characters."),
    )
