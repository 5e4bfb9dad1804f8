"""Schemas of signing in, and of the person who is signed in."""

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.people import EMAIL, PERSON_ID, SESSION_ID, code_field, password_field, role_field, secret_field
from shared.lifecycle import ACCOUNT_STATES
from shared.people.persons import MAX_EMAIL_LENGTH
from shared.people.roles import OPERATOR_ROLES

SESSION_EXPIRES_AT = "2026-04-01T09:00:00.120Z"
LINK = "smsl_<token of the link>"


class EmailAndPassword(Request):
    """An e-mail address and password, with a code if the person uses TOTP."""

    email = fields.String(
        "The person's e-mail address.", EMAIL, required=True, maxLength=MAX_EMAIL_LENGTH, format="email"
    )
    password = password_field("Their password.", required=True)
    code = code_field()


class OidcMethodResponse(Response):
    """The OpenID Connect provider."""

    name = fields.String("Its name, for a button.", "Acme")


class SignInMethodsResponse(Response):
    """How people can sign in here, besides by a link."""

    password = fields.Boolean("By e-mail address and password.", True)
    oidc = fields.Nested(
        OidcMethodResponse,
        "Through an OpenID Connect provider, with POST /api/v1/sign-in/oidc; null: there is none.",
        allow_none=True,
    )


class LinkToken(Request):
    """The token of a sign-in link."""

    token = secret_field("The token at the end of the link.", LINK)


class PersonResponse(Response):
    """A person who signs in."""

    person_id = fields.UUID("The person.", PERSON_ID)
    email = fields.String("Their e-mail address.", EMAIL)
    name = fields.String("Their name.", "Ann Otieno")
    locale = fields.String("Their language, as a language tag (BCP 47).", "en")
    time_zone = fields.String("Their time zone, by its IANA name.", "Africa/Nairobi")
    operator_role = fields.String(
        "Their role in the installation; null for customers.", None, allow_none=True, one_of=[*OPERATOR_ROLES, None]
    )
    totp = fields.Boolean("Whether a sign-in needs a code.", True)
    has_password = fields.Boolean(
        "Whether they have a password; without one they sign in by link or through the provider only.", True
    )


class PersonAccountResponse(Response):
    """An account that the person is in."""

    account_id = fields.Integer("The account, for POST /api/v1/me/token.", 7)
    name = fields.String("The account's name.", "acme")
    role = role_field("Their role in it.")
    status = fields.String(
        "Only an `active` account can be used. The operator has suspended a `suspended` one. A `frozen` one was"
        " stopped because its credits did not add up: nothing of it is sent until the operator activates it.",
        "active",
        one_of=ACCOUNT_STATES,
    )
    country = fields.String(
        "The country by which phone numbers in its lists are read (ISO 3166-1); null: none is set.",
        "KE",
        allow_none=True,
    )


class MeResponse(Response):
    """The person who is signed in, their accounts and their session."""

    person = fields.Nested(PersonResponse, "The person.")
    accounts = fields.List(fields.Nested(PersonAccountResponse), "The accounts, by name.")
    session_id = fields.UUID("The session.", SESSION_ID)
    expires_at = fields.Timestamp("When the session ends, or 12 hours after its last use.", SESSION_EXPIRES_AT)


class SignedInResponse(MeResponse):
    """A new session."""

    session_token = fields.String(
        "The session's token, shown only once. Send it as `Authorization: Bearer …` to /api/v1/me.", "smsp_<shown once>"
    )
