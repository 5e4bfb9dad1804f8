"""Schemas of statements."""

from api.schemas import fields
from api.schemas.base import Response
from shared.lifecycle import Category
from shared.statements import KINDS


class StatementSummaryResponse(Response):
    """What moved the balance in a month: `opening` and the five sums add up to `closing`."""

    month = fields.String("The month, UTC, by the time of posting.", "2026-03")
    closed = fields.Boolean("Whether the month is over and counted: then it never changes.", True)
    opening = fields.Integer("Available and reserved credits when the month began.", 1000)
    top_ups = fields.Integer("Credits of top-ups.", 500)
    reversals = fields.Integer("Credits of reversed top-ups; negative.", 0)
    adjustments = fields.Integer("Credits of adjustments; negative if more were taken than given.", 0)
    charges = fields.Integer("Credits charged for messages; negative. A reserve is not charged yet.", -820)
    refunds = fields.Integer("Credits of refunds.", 2)
    closing = fields.Integer("Available and reserved credits when it ended, or now.", 682)


class StatementLineResponse(Response):
    """What was posted with one kind and, for messages, one sender ID, category and price."""

    kind = fields.String("The kind of the ledger's entries; `capture` is a charge.", "capture", one_of=KINDS)
    month = fields.String("Of refunds, the month in which their batch was first charged.", allow_none=True)
    sender_id = fields.String("The messages' sender ID.", "ACME", allow_none=True)
    category = fields.String("Their category.", "transactional", allow_none=True, one_of=[*Category, None])
    price = fields.Integer("Credits per message.", 2, allow_none=True)
    messages = fields.Integer("Number of messages; 0 if it is about none.", 410)
    segments = fields.Integer("Segments of the messages.", 820)
    credits = fields.Integer("Credits that the balance gained; negative if it lost them.", -820)


class StatementResponse(StatementSummaryResponse):
    """A month with its lines, whose credits are the difference of the two balances."""

    lines = fields.List(fields.Nested(StatementLineResponse), "What was posted, summed up.")
