"""Schemas of sender IDs."""

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.examples import SENDER_UUID
from api.schemas.fields import SENDER_ID_LENGTH, doc
from api.schemas.paging import Paging
from api.schemas.sender_ids import SenderIdRequest
from shared.lifecycle import SENDER_ID_STATES
from shared.senders.sender_ids import NO_SENDER_ID

MAX_USE_CASE_LENGTH = 500


class SenderRequest(SenderIdRequest):
    """A sender ID that the account requests."""

    sender_id = fields.String(
        required=True,
        validate=SENDER_ID_LENGTH,
        metadata=doc(NO_SENDER_ID, "ACME"),
    )
    use_case = fields.String(
        validate=validate.Length(1, MAX_USE_CASE_LENGTH, error="Use {min} to {max} characters."),
        metadata=doc("What the sender ID is for. The operator reads this.", "Order confirmations of our shop"),
    )


class SenderPaging(Paging):
    """Paging through sender IDs."""

    status = fields.String(
        validate=validate.OneOf(SENDER_ID_STATES, error="Use one of {choices}."),
        metadata=doc("Only sender IDs with this status.", "approved"),
    )
    search = fields.String(
        metadata=doc("Only sender IDs that contain this text, ignoring upper and lower case.", "shop")
    )


class SenderResponse(Schema):
    """A sender ID and its status."""

    id = fields.UUID(required=True, metadata=doc("The id for DELETE /sender-ids/{sender}.", SENDER_UUID))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    form = fields.String(
        required=True,
        metadata=doc(
            "Whether it is a name, a short code or a phone number.",
            "alphanumeric",
            enum=["alphanumeric", "short_code", "number"],
        ),
    )
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc("Current status. Sends need an `approved` sender ID.", "pending", enum=[*SENDER_ID_STATES]),
    )
    reason = fields.String(
        required=True, allow_none=True, metadata=doc("Why it was rejected or suspended; null if no reason was given.")
    )
    use_case = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("What the sender ID is for. The operator reads this.", "Order confirmations of our shop"),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was requested.", "2026-01-12T08:15:30.000Z"))
    decided_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When the operator decided; null if pending.")
    )


class DeletedResponse(Schema):
    """The sender ID is deleted."""

    deleted = fields.Boolean(required=True, metadata=doc("The sender ID is deleted.", True))
