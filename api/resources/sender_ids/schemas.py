"""Sender IDs, as requests."""

from marshmallow import fields, validate, validates

from api.schemas.base import Request, fail
from api.schemas.paging import Paging
from shared.senders.sender_ids import NO_SENDER_ID, form_of

LONGEST_USE_CASE = 500
STATUSES = ("pending", "approved", "rejected", "suspended")


class SenderRequest(Request):
    """A sender ID that the account wants to send from."""

    sender_id = fields.String(
        required=True,
        validate=validate.Length(1, 15, error="A sender ID has 1 to 15 characters."),
        metadata={"description": NO_SENDER_ID, "example": "ACME"},
    )
    use_case = fields.String(
        validate=validate.Length(1, LONGEST_USE_CASE, error="Say it in {min} to {max} characters.")
    )

    @validates("sender_id")
    def a_sender_id(self, sender_id: str, data_key: str) -> None:
        """One that carriers show as it is."""
        if form_of(sender_id) is None:
            raise fail("invalid_sender_id", NO_SENDER_ID)


class SenderPaging(Paging):
    """A page of the sender IDs."""

    status = fields.String(validate=validate.OneOf(STATUSES, error="Give one of {choices}."))
