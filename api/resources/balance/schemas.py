"""Credits, and the ledger behind them."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import ACCEPTED_AT, BATCH_ID, MESSAGE_ID, SEND_ID
from api.schemas.fields import doc


class BalanceResponse(Schema):
    """What can be spent, and what is reserved."""

    balance = fields.Integer(required=True, metadata=doc("Credits left to spend; a 402 is decided by this.", 880))
    reserved = fields.Integer(required=True, metadata=doc("Credits reserved for unfinished messages.", 120))
    unit = fields.String(required=True, metadata=doc("One credit is one segment of an SMS.", "sms"))
    low_balance_threshold = fields.Integer(required=True, metadata=doc("Below this the balance counts as low.", 100))
    updated_at = fields.Timestamp(required=True, metadata=doc("When it last changed.", "2026-03-02T09:00:01.250Z"))


class TransactionResponse(Schema):
    """A row of the ledger."""

    id = fields.Integer(required=True, metadata=doc("Increases with every row.", 4711))
    kind = fields.String(
        required=True,
        metadata=doc("Why.", "reserve", enum=["topup", "reserve", "capture", "release", "refund", "reversal"]),
    )
    amount = fields.Integer(required=True, metadata=doc("Credits.", 3))
    debit = fields.String(required=True, metadata=doc("The ledger account that the credits came from.", "available"))
    credit = fields.String(required=True, metadata=doc("The ledger account that the credits went to.", "reserved"))
    send_id = fields.UUID(required=True, allow_none=True, metadata=doc("The send.", SEND_ID))
    batch_id = fields.UUID(
        required=True, allow_none=True, metadata=doc("The slice of the send's recipients.", BATCH_ID)
    )
    message_id = fields.UUID(required=True, allow_none=True, metadata=doc("The message.", MESSAGE_ID))
    reason = fields.String(
        required=True, allow_none=True, metadata=doc("The reason for a top-up, its reversal, or a refund.")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was posted.", ACCEPTED_AT))
