"""Schemas of sender IDs."""

from marshmallow import Schema, validate

from api.operator.fields import ACCOUNT_ID, AccountPaging, account_id
from api.resources.sender_ids.schemas import SenderRequest
from api.schemas import fields
from api.schemas.examples import SENDER_UUID
from api.schemas.fields import Request, doc
from shared.lifecycle import SENDER_ID_STATES


class SenderIdPaging(AccountPaging):
    """Paging through sender IDs."""

    status = fields.String(
        validate=validate.OneOf(SENDER_ID_STATES, error="Use one of {choices}."),
        metadata=doc("Only sender IDs with this status.", "pending", enum=[*SENDER_ID_STATES]),
    )


class NewSenderId(SenderRequest):
    """A sender ID to request for an account."""

    account_id = account_id(required=True)


class SenderIdChanges(Request):
    """What a sender ID may be used for."""

    authentication = fields.StrictBoolean(
        required=True, metadata=doc("Whether sends from it may have the category `authentication`.", True)
    )


class LikenessResponse(Schema):
    """A similar sender ID of another account."""

    account_id = fields.Integer(required=True, metadata=doc("The other account.", 18))
    account = fields.String(required=True, metadata=doc("Its name.", "acne"))
    sender_id = fields.String(required=True, metadata=doc("Its sender ID.", "ACNE"))
    status = fields.String(
        required=True, attribute="state", metadata=doc("Its status.", "approved", enum=[*SENDER_ID_STATES])
    )


class SenderIdResponse(Schema):
    """A sender ID of an account."""

    sender = fields.UUID(required=True, attribute="id", metadata=doc("The id for other operations.", SENDER_UUID))
    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    account = fields.String(required=True, metadata=doc("Its name.", "acme"))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    status = fields.String(
        required=True, attribute="state", metadata=doc("Its status.", "pending", enum=[*SENDER_ID_STATES])
    )
    reason = fields.String(required=True, allow_none=True, metadata=doc("The reason of the decision; null if none."))
    use_case = fields.String(
        required=True, allow_none=True, metadata=doc("What it is for, in the account's words.", "Order confirmations")
    )
    authentication = fields.Boolean(
        required=True, metadata=doc("Whether sends from it may have the category `authentication`.", False)
    )
    similar_to = fields.List(
        fields.Nested(LikenessResponse), required=True, metadata=doc("Similar sender IDs of other accounts.")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was requested.", "2026-03-02T09:00:00.120Z"))
    decided_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When it was decided on; null while it is pending.")
    )
