"""Changes of a send, as a request."""

from datetime import datetime
from typing import Any

from marshmallow import fields, validate, validates, validates_schema

from api.schemas.base import IN_RANGE, Moment, Request, Text, Whole, fail
from api.schemas.times import check_due, check_expiry


class SendChanges(Request):
    """What of a send is to change."""

    send_at = Moment(allow_none=True)
    expires_at = Moment()
    rate = Whole(allow_none=True, validate=validate.Range(1, 100_000, error=IN_RANGE))
    message = Text()
    on_unicode = fields.String(validate=validate.OneOf(["send", "transliterate", "reject"]), load_default="send")
    max_segments = Whole(validate=validate.Range(1, 30, error=IN_RANGE))

    @validates("send_at")
    def not_too_far_ahead(self, send_at: datetime | None, data_key: str) -> None:
        """90 days at most."""
        if send_at is not None:
            check_due(send_at)

    @validates("expires_at")
    def not_for_ever(self, expires_at: datetime, data_key: str) -> None:
        """97 days at most."""
        check_expiry(expires_at)

    @validates_schema
    def something(self, data: dict[str, Any], **_: Any) -> None:
        """At least one change."""
        if not {"send_at", "expires_at", "rate", "message"} & data.keys():
            raise fail("required", "Give `send_at`, `expires_at`, `rate` or `message`.")
