"""Schemas of sender IDs."""

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import SENDER_UUID
from api.schemas.fields import SENDER_ID_LENGTH
from api.schemas.paging import Paging
from api.schemas.sender_ids import SenderIdRequest
from shared.lifecycle import SENDER_ID_STATES
from shared.senders.sender_ids import NO_SENDER_ID

MAX_USE_CASE_LENGTH = 500


class SenderRequest(SenderIdRequest):
    """A sender ID that the account requests."""

    sender_id = fields.String(NO_SENDER_ID, "ACME", required=True, validate=SENDER_ID_LENGTH)
    use_case = fields.String(
        "What the sender ID is for. The operator reads this.",
        "Order confirmations of our shop",
        validate=fields.length(1, MAX_USE_CASE_LENGTH),
    )


class SenderPaging(Paging):
    """Paging through sender IDs."""

    status = fields.Choice(SENDER_ID_STATES, "Only sender IDs with this status.", "approved")
    search = fields.String("Only sender IDs that contain this text, ignoring upper and lower case.", "shop")


class SenderResponse(Response):
    """A sender ID and its status."""

    id = fields.UUID("The id for DELETE /sender-ids/{sender}.", SENDER_UUID)
    sender_id = fields.String("The sender ID.", "ACME")
    form = fields.String(
        "Whether it is a name, a short code or a phone number.",
        "alphanumeric",
        one_of=["alphanumeric", "short_code", "number"],
    )
    status = fields.String(
        "Current status. Sends need an `approved` sender ID.", "pending", attribute="state", one_of=SENDER_ID_STATES
    )
    reason = fields.String("Why it was rejected or suspended; null if no reason was given.", allow_none=True)
    use_case = fields.String(
        "What the sender ID is for. The operator reads this.", "Order confirmations of our shop", allow_none=True
    )
    created_at = fields.Timestamp("When it was requested.", "2026-01-12T08:15:30.000Z")
    decided_at = fields.Timestamp("When the operator decided; null if pending.", allow_none=True)


class DeletedResponse(Response):
    """The sender ID is deleted."""

    deleted = fields.Boolean("The sender ID is deleted.", True)
