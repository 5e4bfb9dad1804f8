"""Schemas of the person who is signed in."""

from marshmallow import validate

from api.auth.token_claims import VALID_FOR_PEOPLE
from api.resources.auth.schemas import TokenResponse
from api.schemas import fields
from api.schemas.base import Changes, Request, Response
from api.schemas.people import SESSION_ID, TimeZone, code_field, name_field, password_field, role_field

LANGUAGE = "Use a language tag, such as en or pt-BR."
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
URI = f"otpauth://totp/Bulk%20SMS:ann@acme.example?secret={SECRET}&issuer=Bulk%20SMS"
REASON = "Ticket 4711: receipts of a campaign are missing"
MIN_REASON_LENGTH, MAX_REASON_LENGTH = 10, 500
SIGNED_IN_AT, USED_AT = "2026-03-02T09:00:00.120Z", "2026-03-02T09:40:00.000Z"


class ChangeMe(Changes):
    """What the person changes about themselves."""

    name = name_field("Their name.")
    locale = fields.String(
        "Their language, as a language tag (BCP 47).",
        "en",
        pattern="^[a-z]{2,3}(-[A-Z]{2})?$",
        validate=validate.Regexp(r"[a-z]{2,3}(-[A-Z]{2})?\Z", error=LANGUAGE),
    )
    time_zone = TimeZone("Their time zone, by its IANA name.", "Africa/Nairobi")


class ChangePassword(Request):
    """A new password."""

    password = password_field(
        "The current password. Not needed within 15 minutes of signing in by a link, or if there is none."
    )
    new_password = password_field("The new password, of 12 to 200 characters.", required=True)


class ConfirmTotp(Request):
    """A code of the authenticator app."""

    code = code_field("The code that the app shows now.", required=True)


class OwnPassword(Request):
    """The password of the person."""

    password = password_field("Their password.", required=True)


class TokenRequest(Request):
    """The account that a token is for."""

    account_id = fields.WholeNumber(
        "The account.",
        7,
        required=True,
        validate=validate.Range(1, 2**63 - 1, error="Use the `account_id` of GET /api/v1/me."),
    )
    test = fields.StrictBoolean("A token for the account's sandbox, as with a test key.", False, load_default=False)


class OperatorTokenRequest(Request):
    """Why an operator needs to see texts and phone numbers."""

    reason = fields.String(
        "Why texts and full phone numbers have to be seen; kept in the audit log.",
        REASON,
        validate=validate.Length(
            MIN_REASON_LENGTH, MAX_REASON_LENGTH, error="Give a reason of {min} to {max} characters."
        ),
    )


class PasswordChangedResponse(Response):
    """The password is changed."""

    changed = fields.Boolean("The password is changed; other sessions ended.", True)


class TotpResponse(Response):
    """A secret for an authenticator app, to be confirmed by a code."""

    secret = fields.String("The secret, in base32.", SECRET)
    uri = fields.String("The same for a QR code.", URI)


class RecoveryCodesResponse(Response):
    """TOTP is on."""

    recovery_codes = fields.List(
        fields.String(), "Codes for when the app is lost, shown only once. Each works once.", ["k4tw-m2xq-p7ne-5s3h"]
    )


class TotpDisabledResponse(Response):
    """TOTP is off."""

    totp = fields.Boolean("Whether a sign-in needs a code.", False)


class SessionResponse(Response):
    """A session of the person."""

    session_id = fields.UUID("The session.", SESSION_ID, attribute="id")
    created_at = fields.Timestamp("When they signed in.", SIGNED_IN_AT)
    last_used_at = fields.Timestamp("When it was last used, to the minute.", USED_AT)
    address = fields.String("The address that they signed in from.", "198.51.100.7")
    user_agent = fields.String("The client that they signed in with.", "Mozilla/5.0")
    current = fields.Boolean("Whether it is the session in use.", True)


class SessionEndedResponse(Response):
    """The session has ended."""

    session_id = fields.UUID("The session.", SESSION_ID)
    ended = fields.Boolean("The session and its tokens are revoked.", True)


class PersonTokenResponse(TokenResponse):
    """A bearer token of the person."""

    expires_in = fields.Integer("Seconds until the token expires.", VALID_FOR_PEOPLE)
    expires_at = fields.Timestamp("When the token expires.", "2026-03-02T09:10:00.000Z", format="date-time")


class AccountTokenResponse(PersonTokenResponse):
    """A bearer token of the person for an account."""

    role = role_field("Their role in the account.")
    account_id = fields.Integer("The account.", 7)
    test = fields.Boolean("Whether the token is for the account's sandbox.", False)
