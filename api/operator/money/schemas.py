"""Schemas of top-ups, reversals, adjustments and refunds."""

from marshmallow import validate

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.base import Request, Response
from shared.accounts.top_ups import MAX_CREDITS

TOP_UP_ID = "5b6f6a2e-8a4c-5f0e-9a53-0d0f3c7d8e11"
CREDITS = fields.between(1, MAX_CREDITS)


class NewTopUp(Request):
    """Credits to add."""

    credits = fields.WholeNumber("Credits to add.", 1000, required=True, validate=CREDITS)
    reason = reason()


class NewReversal(Request):
    """Credits of a top-up to reverse."""

    credits = fields.WholeNumber("Credits to reverse.", 1000, required=True, validate=CREDITS)
    reason = reason()


class NewAdjustment(Request):
    """Credits to add or to take."""

    credits = fields.WholeNumber(
        "Credits to add; below 0, credits to take.",
        -250,
        required=True,
        validate=[
            fields.between(-MAX_CREDITS, MAX_CREDITS),
            validate.NoneOf([0], error="Give the credits to add, or below 0 those to take."),
        ],
    )
    reason = reason()


class TopUpResponse(Response):
    """A top-up."""

    top_up_id = fields.UUID("The top-up.", TOP_UP_ID, attribute="id")
    credits = fields.Integer("Credits that were added.", 1000, attribute="amount")
    reason = fields.String("Why.", "invoice 2026-0117", allow_none=True)
    reversed = fields.Integer("Credits that were reversed; null if none were.", allow_none=True)
    reversal_reason = fields.String("Why they were reversed; null if none were.", allow_none=True)
    created_at = fields.Timestamp("When.", "2026-03-02T09:00:00.120Z")


class ToppedUpResponse(Response):
    """The credits are added."""

    top_up_id = fields.UUID("The top-up.", TOP_UP_ID, attribute="id")
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    credits = fields.Integer("Credits that were added.", 1000)
    balance = fields.Integer("Credits that the account can spend now.", 1880)


class AdjustedResponse(Response):
    """The credits are added or taken."""

    adjustment_id = fields.UUID("The adjustment.", TOP_UP_ID, attribute="id")
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    credits = fields.Integer("Credits that were added; below 0, credits that were taken.", -250)
    balance = fields.Integer("Credits that the account can spend now.", 630)


class ReversalResponse(Response):
    """The credits are reversed."""

    top_up_id = fields.UUID("The top-up.", TOP_UP_ID, attribute="id")
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    reversed = fields.Integer("Credits that were reversed.", 1000)
    balance = fields.Integer("Credits that the account can spend now.", 880)


class RefundResponse(Response):
    """The credits are refunded."""

    account_id = fields.Integer("The account.", ACCOUNT_ID)
    credits = fields.Integer("Credits that were refunded.", 2)
    balance = fields.Integer("Credits that the account can spend now.", 882)
