"""Schemas of the balance and the ledger."""

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import ACCEPTED_AT, BATCH_ID, MESSAGE_ID, SEND_ID


class BalanceResponse(Response):
    """The account's credits."""

    balance = fields.Integer(
        "Credits left to spend: `available` and `credit_limit` together. A send that costs more is refused with 402.",
        880,
    )
    available = fields.Integer("The account's own credits that are left; below 0 if it owes some.", 880)
    credit_limit = fields.Integer("Credits that the account may owe.", 0)
    reserved = fields.Integer("Credits reserved for unfinished messages.", 120)
    unit = fields.String(
        "What a credit is worth. `sms`: the price of a segment, where no price list says otherwise. A currency and"
        " decimals, such as `EUR:4`: 0.0001 EUR.",
        "sms",
    )
    available_amount = fields.String("`available` in that currency; null without one.", "0.0880", allow_none=True)
    low_balance_threshold = fields.Integer("Below this the balance counts as low.", 100)
    spend_threshold = fields.Integer(
        "Credits charged in a month (UTC) at which there is a `spend.threshold` event; null means none.",
        allow_none=True,
    )
    updated_at = fields.Timestamp("When it last changed.", "2026-03-02T09:00:01.250Z")


class TransactionResponse(Response):
    """An entry of the ledger."""

    id = fields.Integer("The entry's id, which increases with every entry.", 4711)
    kind = fields.String(
        "The kind of entry.",
        "reserve",
        one_of=["topup", "reserve", "capture", "release", "refund", "reversal", "adjustment"],
    )
    amount = fields.Integer("The amount, in credits.", 3)
    debit = fields.String("The ledger account that the credits came from.", "available")
    credit = fields.String("The ledger account that the credits went to.", "reserved")
    send_id = fields.UUID("The send.", SEND_ID, allow_none=True)
    batch_id = fields.UUID("The batch: a part of the send's recipients.", BATCH_ID, allow_none=True)
    message_id = fields.UUID("The message.", MESSAGE_ID, allow_none=True)
    reason = fields.String("The reason for a top-up, a reversal, an adjustment or a refund.", allow_none=True)
    created_at = fields.Timestamp("When it was posted.", ACCEPTED_AT)
