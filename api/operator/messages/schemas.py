"""Schemas of the messages of all accounts."""

from marshmallow import validate

from api.operator.fields import ACCOUNT_ID
from api.resources.messages.detail_schemas import DOUBT_EXAMPLE, DoubtResponse, MessageDetailResponse
from api.resources.messages.schemas import HistoryPaging, MessagePaging, MessageResponse
from api.schemas import fields
from api.schemas.examples import PHONE, SEND_ID
from api.schemas.fields import IN_RANGE, doc
from shared.ids import LAST_NUMBER

SEARCHED = HistoryPaging().declared_fields
HIDDEN_PHONE = "The phone number; its middle is hidden without the scope `texts`; null if it was erased."


class OperatorMessagePaging(MessagePaging):
    """Paging through messages, newest send first."""

    account_id = fields.Integer(
        validate=validate.Range(1, LAST_NUMBER, error=IN_RANGE), metadata=doc("Only of this account.", ACCOUNT_ID)
    )
    send_id = fields.UUID(metadata=doc("Only of this send.", SEND_ID))
    phone = SEARCHED["phone"]
    reference = SEARCHED["reference"]
    since = SEARCHED["since"]
    until = SEARCHED["until"]


class OperatorMessageResponse(MessageResponse):
    """One message to one phone number, of any account."""

    account_id = fields.Integer(required=True, metadata=doc("Its account.", ACCOUNT_ID))
    phone = fields.String(required=True, allow_none=True, metadata=doc(HIDDEN_PHONE, PHONE))


class MessageDoubtResponse(DoubtResponse):
    """Uncertainty about a message that was submitted but got no response from the carrier."""


class OperatorMessageDetailResponse(OperatorMessageResponse, MessageDetailResponse):
    """One message of any account, with its attempts and timeline."""

    text = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "The text sent to this phone number; null without the scope `texts`, or if it was erased.",
            "Your table is ready.",
        ),
    )
    parts = fields.List(
        fields.String(),
        required=True,
        metadata=doc("The text of each segment; empty if `text` is null.", ["Your table is ready."]),
    )
    doubt = fields.Nested(
        MessageDoubtResponse,
        required=True,
        allow_none=True,
        metadata=doc("Why it was in doubt, and what resolved it; null if it never was.", DOUBT_EXAMPLE),
    )
