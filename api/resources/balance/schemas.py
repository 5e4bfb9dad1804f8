"""Schemas of the balance and the ledger."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import ACCEPTED_AT, BATCH_ID, MESSAGE_ID, SEND_ID
from api.schemas.fields import doc


class BalanceResponse(Schema):
    """The account's credits."""

    balance = fields.Integer(
        required=True, metadata=doc("Credits left to spend. A send that costs more is refused with 402.", 880)
    )
    reserved = fields.Integer(required=True, metadata=doc("Credits reserved for unfinished messages.", 120))
    unit = fields.String(required=True, metadata=doc("One credit is one segment of an SMS.", "sms"))
    low_balance_threshold = fields.Integer(required=True, metadata=doc("Below this the balance counts as low.", 100))
    updated_at = fields.Timestamp(required=True, metadata=doc("When it last changed.", "2026-03-02T09:00:01.250Z"))


class TransactionResponse(Schema):
    """An entry of the ledger."""

    id = fields.Integer(required=True, metadata=doc("The entry's id, which increases with every entry.", 4711))
    kind = fields.String(
        required=True,
        metadata=doc(
            "The kind of entry.", "reserve", enum=["topup", "reserve", "capture", "release", "refund", "reversal"]
        ),
    )
    amount = fields.Integer(required=True, metadata=doc("The amount, in credits.", 3))
    debit = fields.String(required=True, metadata=doc("The ledger account that the credits came from.", "available"))
    credit = fields.String(required=True, metadata=doc("The ledger account that the credits went to.", "reserved"))
    send_id = fields.UUID(required=True, allow_none=True, metadata=doc("The send.", SEND_ID))
    batch_id = fields.UUID(
        required=True, allow_none=True, metadata=doc("The batch: a part of the send's recipients.", BATCH_ID)
    )
    message_id = fields.UUID(required=True, allow_none=True, metadata=doc("The message.", MESSAGE_ID))
    reason = fields.String(
        required=True, allow_none=True, metadata=doc("The reason for a top-up, a reversal or a refund.")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was posted.", ACCEPTED_AT))
