"""Schemas of the messages of all accounts."""

from api.operator.fields import ACCOUNT_ID
from api.resources.messages.detail_schemas import DOUBT_EXAMPLE, DoubtResponse, MessageDetailResponse
from api.resources.messages.schemas import HistoryPaging, MessagePaging, MessageResponse
from api.schemas import fields
from api.schemas.examples import PHONE, SEND_ID
from shared.ids import LAST_NUMBER

SEARCHED = HistoryPaging().declared_fields
HIDDEN_PHONE = "The phone number; its middle is hidden without the scope `texts`; null if it was erased."


class OperatorMessagePaging(MessagePaging):
    """Paging through messages, newest send first."""

    account_id = fields.Integer("Only of this account.", ACCOUNT_ID, validate=fields.between(1, LAST_NUMBER))
    send_id = fields.UUID("Only of this send.", SEND_ID)
    phone = SEARCHED["phone"]
    reference = SEARCHED["reference"]
    since = SEARCHED["since"]
    until = SEARCHED["until"]


class OperatorMessageResponse(MessageResponse):
    """One message to one phone number, of any account."""

    account_id = fields.Integer("Its account.", ACCOUNT_ID)
    phone = fields.String(HIDDEN_PHONE, PHONE, allow_none=True)


class MessageDoubtResponse(DoubtResponse):
    """Uncertainty about a message that was submitted but got no response from the carrier."""


class OperatorMessageDetailResponse(OperatorMessageResponse, MessageDetailResponse):
    """One message of any account, with its attempts and timeline."""

    text = fields.String(
        "The text sent to this phone number; null without the scope `texts`, or if it was erased.",
        "Your table is ready.",
        allow_none=True,
    )
    parts = fields.List(fields.String(), "The text of each segment; empty if `text` is null.", ["Your table is ready."])
    doubt = fields.Nested(
        MessageDoubtResponse,
        "Why it was in doubt, and what resolved it; null if it never was.",
        DOUBT_EXAMPLE,
        allow_none=True,
    )
