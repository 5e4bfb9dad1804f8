"""API keys, as requests."""

from datetime import UTC, datetime

from marshmallow import fields, validate, validates

from api.schemas.base import IN_RANGE, Flag, Moment, Request, Whole, fail
from shared.accounts.api_keys import MOST_OVERLAP
from shared.api_key import MOST_NETWORKS, SCOPES, networks

LONGEST_NAME = 100
MOST_REQUESTS = 1_000_000
A_SCOPE = f"There are these scopes: {', '.join(SCOPES)}."


class MakeApiKey(Request):
    """A new key. What is left out is as with the key in use, but for the scopes."""

    name = fields.String(
        validate=[
            validate.Length(1, LONGEST_NAME, error="A name has {min} to {max} characters."),
            validate.Predicate("isprintable", error="Leave out the characters that do not show."),
        ]
    )
    test = Flag()
    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES, error=A_SCOPE)),
        validate=validate.Length(1, len(SCOPES), error="Name {min} to {max} scopes."),
    )
    allowed_ips = fields.List(
        fields.String(), validate=validate.Length(1, MOST_NETWORKS, error="Name {min} to {max} networks.")
    )
    requests_per_second = Whole(validate=validate.Range(1, MOST_REQUESTS, error=IN_RANGE))
    expires_at = Moment()

    @validates("allowed_ips")
    def each_a_network(self, allowed_ips: list[str], data_key: str) -> None:
        """Networks of IPv4 or IPv6, or single addresses."""
        for each in allowed_ips:
            try:
                networks([each])
            except ValueError:
                raise fail("invalid", f"{each[:50]!r} is no network. Write one like 192.0.2.0/24.") from None

    @validates("expires_at")
    def in_the_future(self, expires_at: datetime, data_key: str) -> None:
        """A key that has ended is of no use."""
        if expires_at <= datetime.now(UTC):
            raise fail("invalid_time", "`expires_at` must be in the future.")


class RotateApiKey(Request):
    """Another secret for a key."""

    overlap_seconds = Whole(load_default=86_400, validate=validate.Range(0, MOST_OVERLAP, error=IN_RANGE))
