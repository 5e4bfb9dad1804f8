"""Requests that name a sender ID to send from."""

from marshmallow import validates

from api.schemas.base import Request
from api.schemas.errors import fail
from shared.senders.sender_ids import NO_SENDER_ID, form_of


class SenderIdRequest(Request):
    """Base of requests with a `sender_id`."""

    @validates("sender_id")
    def check_sender_id(self, sender_id: str, data_key: str) -> None:
        """Carriers must be able to show it unchanged."""
        if form_of(sender_id) is None:
            raise fail("invalid_sender_id", NO_SENDER_ID)
