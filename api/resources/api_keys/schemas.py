"""API keys."""

from datetime import UTC, datetime

from marshmallow import Schema, validate, validates

from api.schemas import fields
from api.schemas.base import Request
from api.schemas.errors import fail
from api.schemas.examples import API_KEY
from api.schemas.fields import IN_RANGE, doc
from shared.accounts.api_keys import MAX_OVERLAP_SECONDS
from shared.api_key import MAX_NETWORKS, SCOPES, networks

LONGEST_NAME = 100
MAX_REQUESTS = 1_000_000
SECRET = "smss_<shown once>"
NETWORKS = ["192.0.2.0/24", "2001:db8::/32"]
KNOWN_SCOPES = f"The scopes are: {', '.join(SCOPES)}."


class MakeApiKey(Request):
    """A new key. What is left out is as with the key in use, but for the scopes."""

    name = fields.String(
        validate=[
            validate.Length(1, LONGEST_NAME, error="A name has {min} to {max} characters."),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
        ],
        metadata=doc("Yours, to tell keys apart.", "shop"),
    )
    test = fields.StrictBoolean(
        metadata=doc("Make a test key, for the sandbox; without it, as the key in use is.", False)
    )
    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES, error=KNOWN_SCOPES)),
        validate=validate.Length(1, len(SCOPES), error="Name {min} to {max} scopes."),
        metadata=doc(
            f"What it may be used for: of {', '.join(SCOPES)}. Without it: `sms:send` and those to read, as far as"
            " the key in use has them.",
            ["sms:send", "sms:read"],
        ),
    )
    allowed_ips = fields.List(
        fields.String(),
        validate=validate.Length(1, MAX_NETWORKS, error="Name {min} to {max} networks."),
        metadata=doc("The networks, or addresses, from which alone it may be used.", NETWORKS),
    )
    requests_per_second = fields.WholeNumber(
        validate=validate.Range(1, MAX_REQUESTS, error=IN_RANGE), metadata=doc("Requests per second, at most.", 20)
    )
    expires_at = fields.Timestamp(metadata=doc("When it ends by itself."))

    @validates("allowed_ips")
    def each_a_network(self, allowed_ips: list[str], data_key: str) -> None:
        """Networks of IPv4 or IPv6, or single addresses."""
        for each in allowed_ips:
            try:
                networks([each])
            except ValueError:
                raise fail("invalid", f"{each[:50]!r} is not a network. Write one like 192.0.2.0/24.") from None

    @validates("expires_at")
    def in_the_future(self, expires_at: datetime, data_key: str) -> None:
        """A key that has ended is of no use."""
        if expires_at <= datetime.now(UTC):
            raise fail("invalid_time", "`expires_at` must be in the future.")


class RotateApiKey(Request):
    """Another secret for a key."""

    overlap_seconds = fields.WholeNumber(
        load_default=86_400,
        validate=validate.Range(0, MAX_OVERLAP_SECONDS, error=IN_RANGE),
        metadata=doc("How long the secret before goes on working, in seconds: 0 to 604,800.", 86_400),
    )


class ApiKeyResponse(Schema):
    """An API key, without its secret."""

    api_key = fields.String(required=True, attribute="id", metadata=doc("The API key.", API_KEY))
    name = fields.String(required=True, allow_none=True, metadata=doc("Yours, to tell keys apart.", "shop"))
    test = fields.Boolean(
        required=True,
        metadata=doc("Whether it is a key of the sandbox: its messages reach no phone and take play credits.", False),
    )
    scopes = fields.List(
        fields.String(), required=True, metadata=doc("What it may be used for.", ["sms:send", "sms:read"])
    )
    allowed_ips = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        metadata=doc("The networks from which alone it may be used; null: from everywhere.", NETWORKS),
    )
    requests_per_second = fields.Integer(
        required=True, allow_none=True, metadata=doc("Requests per second, at most; null: as many as the account.")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was made.", "2026-03-02T09:00:00.120Z"))
    expires_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it ends by itself; null: never."))
    last_used_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When it was used last, to the minute; null: never.")
    )
    old_secret_expires_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When the secret before ends; null: there is none.")
    )


class NewApiKeyResponse(ApiKeyResponse):
    """A new API key, with its secret: it is shown now and never again, so an answer that is told again has none."""

    api_secret = fields.String(
        metadata=doc("Its secret: keep it now. Absent where `Idempotency-Replayed` is true.", SECRET)
    )


class RotatedApiKeyResponse(Schema):
    """The new secret: it is shown now and never again, so an answer that is told again has none."""

    api_key = fields.String(required=True, metadata=doc("The API key.", API_KEY))
    api_secret = fields.String(
        metadata=doc("Its new secret: keep it now. Absent where `Idempotency-Replayed` is true.", SECRET)
    )
    old_secret_expires_at = fields.Timestamp(
        required=True,
        metadata=doc("When the secret before ends, and the tokens that were got with it.", "2026-03-03T09:00:00.120Z"),
    )


class RevokedApiKeyResponse(Schema):
    """The key is revoked."""

    api_key = fields.String(required=True, metadata=doc("The API key.", API_KEY))
    revoked = fields.Boolean(required=True, metadata=doc("The key is dead, and its tokens are.", True))
