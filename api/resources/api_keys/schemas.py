"""Schemas of API keys."""

from typing import Any

from marshmallow import validate, validates

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.errors import fail
from api.schemas.examples import API_KEY
from api.schemas.fields import MAX_NAME_LENGTH
from api.schemas.times import check_future
from shared.accounts.api_keys import MAX_OVERLAP_SECONDS
from shared.api_key import MAX_NETWORKS, networks
from shared.scopes import SCOPES

MAX_REQUESTS = 1_000_000
SECRET = "smss_<shown once>"
NETWORKS = ["192.0.2.0/24", "2001:db8::/32"]
KNOWN_SCOPES = f"The scopes are: {', '.join(SCOPES)}."


def network_list(description: str, **options: Any) -> fields.List:
    """Networks or addresses."""
    names = validate.Length(1, MAX_NETWORKS, error="Name {min} to {max} networks.")
    return fields.List(fields.String(), description, NETWORKS, validate=names, **options)


class WithNetworks(Request):
    """Base of requests with `allowed_ips`."""

    @validates("allowed_ips")
    def each_a_network(self, allowed_ips: list[str] | None, data_key: str) -> None:
        """IPv4 or IPv6 networks, or single addresses."""
        for each in allowed_ips or ():
            try:
                networks([each])
            except ValueError:
                raise fail("invalid", f"{each[:50]!r} is not a network. Write one like 192.0.2.0/24.") from None


class MakeApiKey(WithNetworks):
    """A new key. Omitted properties, except scopes, are copied from the key in use."""

    name = fields.String(
        "Your own name for the key.",
        "shop",
        validate=[
            validate.Length(1, MAX_NAME_LENGTH, error="A name has {min} to {max} characters."),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
        ],
    )
    test = fields.StrictBoolean("Create a test key, for the sandbox. Defaults to the kind of the key in use.", False)
    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES, error=KNOWN_SCOPES)),
        f"What the key may be used for, any of {', '.join(SCOPES)}. Defaults to `sms:send` and the `:read` scopes,"
        " as far as the key in use has them.",
        ["sms:send", "sms:read"],
        validate=validate.Length(1, len(SCOPES), error="Name {min} to {max} scopes."),
    )
    allowed_ips = network_list("The networks or addresses that the key may be used from.")
    requests_per_second = fields.WholeNumber(
        "Maximum requests per second.", 20, validate=fields.between(1, MAX_REQUESTS)
    )
    expires_at = fields.Timestamp("When the key expires.", validate=check_future)


class RotateApiKey(Request):
    """Options for rotating a key's secret."""

    overlap_seconds = fields.WholeNumber(
        "How long the previous secret stays valid, in seconds: 0 to 604,800.",
        86_400,
        load_default=86_400,
        validate=fields.between(0, MAX_OVERLAP_SECONDS),
    )


class ApiKeyResponse(Response):
    """An API key, without its secret."""

    api_key = fields.String("The API key.", API_KEY, attribute="id")
    name = fields.String("Your own name for the key.", "shop", allow_none=True)
    test = fields.Boolean("Whether it is a test key: its messages reach no phone and use play credits.", False)
    scopes = fields.List(fields.String(), "What the key may be used for.", ["sms:send", "sms:read"])
    allowed_ips = fields.List(
        fields.String(), "The networks that the key may be used from; null means any.", NETWORKS, allow_none=True
    )
    requests_per_second = fields.Integer(
        "Maximum requests per second; null means the account's limit.", allow_none=True
    )
    created_at = fields.Timestamp("When it was created.", "2026-03-02T09:00:00.120Z")
    expires_at = fields.Timestamp("When it expires; null means never.", allow_none=True)
    last_used_at = fields.Timestamp("When it was last used, to the minute; null if never.", allow_none=True)
    old_secret_expires_at = fields.Timestamp(
        "When the previous secret expires; null if there is none.", allow_none=True
    )


class NewApiKeyResponse(ApiKeyResponse):
    """A new API key with its secret, which is shown only once: a replayed response does not contain it."""

    api_secret = fields.String(
        "The secret; store it now. Absent if `Idempotency-Replayed` is true.", SECRET, required=False
    )


class RotatedApiKeyResponse(Response):
    """The key's new secret, which is shown only once: a replayed response does not contain it."""

    api_key = fields.String("The API key.", API_KEY)
    api_secret = fields.String(
        "The new secret; store it now. Absent if `Idempotency-Replayed` is true.", SECRET, required=False
    )
    old_secret_expires_at = fields.Timestamp(
        "When the previous secret expires, with the tokens issued for it.", "2026-03-03T09:00:00.120Z"
    )


class RevokedApiKeyResponse(Response):
    """The key is revoked."""

    api_key = fields.String("The API key.", API_KEY)
    revoked = fields.Boolean("The key and its tokens are revoked.", True)
