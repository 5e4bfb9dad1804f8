"""Schemas of top-ups, reversals and refunds."""

from marshmallow import Schema, validate

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.fields import IN_RANGE, Request, doc
from shared.accounts.top_ups import MAX_CREDITS

TOP_UP_ID = "5b6f6a2e-8a4c-5f0e-9a53-0d0f3c7d8e11"
CREDITS = validate.Range(1, MAX_CREDITS, error=IN_RANGE)


class NewTopUp(Request):
    """Credits to add."""

    credits = fields.WholeNumber(required=True, validate=CREDITS, metadata=doc("Credits to add.", 1000))
    reason = reason()


class NewReversal(Request):
    """Credits of a top-up to reverse."""

    credits = fields.WholeNumber(required=True, validate=CREDITS, metadata=doc("Credits to reverse.", 1000))
    reason = reason()


class TopUpResponse(Schema):
    """A top-up."""

    top_up_id = fields.UUID(required=True, attribute="id", metadata=doc("The top-up.", TOP_UP_ID))
    credits = fields.Integer(required=True, attribute="amount", metadata=doc("Credits that were added.", 1000))
    reason = fields.String(required=True, allow_none=True, metadata=doc("Why.", "invoice 2026-0117"))
    reversed = fields.Integer(
        required=True, allow_none=True, metadata=doc("Credits that were reversed; null if none were.")
    )
    reversal_reason = fields.String(
        required=True, allow_none=True, metadata=doc("Why they were reversed; null if none were.")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When.", "2026-03-02T09:00:00.120Z"))


class ToppedUpResponse(Schema):
    """The credits are added."""

    top_up_id = fields.UUID(required=True, attribute="id", metadata=doc("The top-up.", TOP_UP_ID))
    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    credits = fields.Integer(required=True, metadata=doc("Credits that were added.", 1000))
    balance = fields.Integer(required=True, metadata=doc("Credits that the account can spend now.", 1880))


class ReversalResponse(Schema):
    """The credits are reversed."""

    top_up_id = fields.UUID(required=True, attribute="id", metadata=doc("The top-up.", TOP_UP_ID))
    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    reversed = fields.Integer(required=True, metadata=doc("Credits that were reversed.", 1000))
    balance = fields.Integer(required=True, metadata=doc("Credits that the account can spend now.", 880))


class RefundResponse(Schema):
    """The credits are refunded."""

    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    credits = fields.Integer(required=True, metadata=doc("Credits that were refunded.", 2))
    balance = fields.Integer(required=True, metadata=doc("Credits that the account can spend now.", 882))
