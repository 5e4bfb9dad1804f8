"""Schemas of signing in, and of the person who is signed in."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.fields import Request, doc
from api.schemas.people import EMAIL, PERSON_ID, SESSION_ID, code_field, password_field, role_field, secret_field
from shared.lifecycle import ACCOUNT_STATES
from shared.people.emails import MAX_EMAIL_LENGTH
from shared.people.roles import OPERATOR_ROLES

SESSION_EXPIRES_AT = "2026-04-01T09:00:00.120Z"
LINK = "smsl_<token of the link>"


class EmailAndPassword(Request):
    """An e-mail address and password, with a code if the person uses TOTP."""

    email = fields.String(
        required=True, metadata=doc("The person's e-mail address.", EMAIL, maxLength=MAX_EMAIL_LENGTH, format="email")
    )
    password = password_field("Their password.", required=True)
    code = code_field()


class OidcMethodResponse(Schema):
    """The OpenID Connect provider."""

    name = fields.String(required=True, metadata=doc("Its name, for a button.", "Acme"))


class SignInMethodsResponse(Schema):
    """How people can sign in here, besides by a link."""

    password = fields.Boolean(required=True, metadata=doc("By e-mail address and password.", True))
    oidc = fields.Nested(
        OidcMethodResponse,
        required=True,
        allow_none=True,
        metadata=doc("Through an OpenID Connect provider, with POST /api/v1/sign-in/oidc; null: there is none."),
    )


class LinkToken(Request):
    """The token of a sign-in link."""

    token = secret_field("The token at the end of the link.", LINK)


class PersonResponse(Schema):
    """A person who signs in."""

    person_id = fields.UUID(required=True, metadata=doc("The person.", PERSON_ID))
    email = fields.String(required=True, metadata=doc("Their e-mail address.", EMAIL))
    name = fields.String(required=True, metadata=doc("Their name.", "Ann Otieno"))
    locale = fields.String(required=True, metadata=doc("Their language, as a language tag (BCP 47).", "en"))
    time_zone = fields.String(required=True, metadata=doc("Their time zone, by its IANA name.", "Africa/Nairobi"))
    operator_role = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("Their role in the installation; null for customers.", None, enum=[*OPERATOR_ROLES, None]),
    )
    totp = fields.Boolean(required=True, metadata=doc("Whether a sign-in needs a code.", True))
    has_password = fields.Boolean(
        required=True,
        metadata=doc(
            "Whether they have a password; without one they sign in by link or through the provider only.", True
        ),
    )


class PersonAccountResponse(Schema):
    """An account that the person is in."""

    account_id = fields.Integer(required=True, metadata=doc("The account, for POST /api/v1/me/token.", 7))
    name = fields.String(required=True, metadata=doc("The account's name.", "acme"))
    role = role_field("Their role in it.", required=True)
    status = fields.String(
        required=True,
        metadata=doc(
            "Only an `active` account can be used. The operator has suspended a `suspended` one. A `frozen` one was"
            " stopped because its credits did not add up: nothing of it is sent until the operator activates it.",
            "active",
            enum=[*ACCOUNT_STATES],
        ),
    )
    country = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The country by which phone numbers in its lists are read (ISO 3166-1); null: none is set.", "KE"),
    )


class MeResponse(Schema):
    """The person who is signed in, their accounts and their session."""

    person = fields.Nested(PersonResponse, required=True, metadata=doc("The person."))
    accounts = fields.List(fields.Nested(PersonAccountResponse), required=True, metadata=doc("The accounts, by name."))
    session_id = fields.UUID(required=True, metadata=doc("The session.", SESSION_ID))
    expires_at = fields.Timestamp(
        required=True, metadata=doc("When the session ends, or 12 hours after its last use.", SESSION_EXPIRES_AT)
    )


class SignedInResponse(MeResponse):
    """A new session."""

    session_token = fields.String(
        required=True,
        metadata=doc(
            "The session's token, shown only once. Send it as `Authorization: Bearer …` to /api/v1/me.",
            "smsp_<shown once>",
        ),
    )
