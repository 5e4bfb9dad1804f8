"""Schemas of sender IDs."""

from api.operator.fields import ACCOUNT_ID, AccountPaging, account_id
from api.resources.sender_ids.schemas import SenderRequest
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import SENDER_UUID
from shared.lifecycle import SENDER_ID_STATES


class SenderIdPaging(AccountPaging):
    """Paging through sender IDs."""

    status = fields.Choice(SENDER_ID_STATES, "Only sender IDs with this status.", "pending")


class NewSenderId(SenderRequest):
    """A sender ID to request for an account."""

    account_id = account_id(required=True)


class SenderIdChanges(Request):
    """What a sender ID may be used for."""

    authentication = fields.StrictBoolean(
        "Whether sends from it may have the category `authentication`.", True, required=True
    )


class LikenessResponse(Response):
    """A similar sender ID of another account."""

    account_id = fields.Integer("The other account.", 18)
    account = fields.String("Its name.", "acne")
    sender_id = fields.String("Its sender ID.", "ACNE")
    status = fields.String("Its status.", "approved", attribute="state", one_of=SENDER_ID_STATES)


class SenderIdResponse(Response):
    """A sender ID of an account."""

    sender = fields.UUID("The id for other operations.", SENDER_UUID, attribute="id")
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    account = fields.String("Its name.", "acme")
    sender_id = fields.String("The sender ID.", "ACME")
    status = fields.String("Its status.", "pending", attribute="state", one_of=SENDER_ID_STATES)
    reason = fields.String("The reason of the decision; null if none.", allow_none=True)
    use_case = fields.String("What it is for, in the account's words.", "Order confirmations", allow_none=True)
    authentication = fields.Boolean("Whether sends from it may have the category `authentication`.", False)
    similar_to = fields.List(fields.Nested(LikenessResponse), "Similar sender IDs of other accounts.")
    created_at = fields.Timestamp("When it was requested.", "2026-03-02T09:00:00.120Z")
    decided_at = fields.Timestamp("When it was decided on; null while it is pending.", allow_none=True)
