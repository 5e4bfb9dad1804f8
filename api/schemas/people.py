"""Fields of people that several resources share."""

from typing import Any, ClassVar
from zoneinfo import available_timezones

from marshmallow import validate

from api.schemas import fields
from api.schemas.errors import fail
from shared.people.passwords import MAX_PASSWORD_LENGTH
from shared.people.persons import MAX_EMAIL_LENGTH, MAX_PERSON_NAME_LENGTH, normalized_email
from shared.people.roles import ROLES

PERSON_ID, INVITATION_ID = "019cad40-2c11-7a3e-8d52-7b1f0e6c9a01", "019cad40-2c12-7b44-9e10-3f5a7c2d8b02"
SESSION_ID = "019cad40-2c13-7c55-a0f1-6d4b8e3a9c03"
EMAIL = "ann@acme.example"
MAX_CODE_LENGTH = 40
MAX_SECRET_LENGTH = 100
"""Characters of a session's, a link's or an invitation's token."""
NO_ZONES = frozenset({"Factory", "localtime"})
"""Files beside those of the time zones: for a computer whose zone is not set, and the zone of this server."""


class Email(fields.String):
    """An e-mail address in ASCII; loaded in lower case."""

    json_schema: ClassVar[dict[str, Any]] = {"format": "email", "maxLength": MAX_EMAIL_LENGTH}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        email = normalized_email(super()._deserialize(value, attr, data, **kwargs))
        if email is None:
            raise fail("invalid_email", "Use an e-mail address in ASCII, such as ann@acme.example.")
        return email


class TimeZone(fields.String):
    """A time zone of the IANA database."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        if name in NO_ZONES or name not in available_timezones():
            raise fail("invalid", "Use a name of the IANA time zone database, such as Africa/Nairobi.")
        return name


def name_field(description: str, **options: Any) -> fields.String:
    """A person's name."""
    return fields.String(
        description,
        "Ann Otieno",
        validate=[
            validate.Length(1, MAX_PERSON_NAME_LENGTH, error="A name has {min} to {max} characters."),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
            validate.Predicate("strip", error="Write at least one letter."),
        ],
        **options,
    )


def password_field(description: str, **options: Any) -> fields.String:
    """A password, of which only the length is checked."""
    return fields.String(
        description,
        "correct horse battery staple",
        validate=validate.Length(1, MAX_PASSWORD_LENGTH, error="A password has at most {max} characters."),
        **options,
        format="password",
    )


def code_field(
    description: str = "A code of the authenticator app, or a recovery code.", **options: Any
) -> fields.String:
    """A code of the second factor."""
    return fields.String(
        description,
        "123456",
        validate=validate.Length(1, MAX_CODE_LENGTH, error="A code has at most {max} characters."),
        **options,
    )


def secret_field(description: str, example: str) -> fields.String:
    """The token of a link or an invitation."""
    return fields.String(
        description,
        example,
        required=True,
        validate=validate.Length(1, MAX_SECRET_LENGTH, error="The token has at most {max} characters."),
    )


def role_field(description: str, **options: Any) -> fields.String:
    """A role in an account."""
    return fields.Choice(ROLES, description, "sender", error=f"The roles are: {', '.join(ROLES)}.", **options)
