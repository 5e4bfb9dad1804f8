"""Schemas of inbound messages of no account."""

from api.operator.fields import ACCOUNT_ID, account_id, reason
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import INBOUND_ID, PHONE
from api.schemas.paging import Paging, limit

NUMBER = fields.length(1, 21)
NUMBER_EXAMPLE = "254700000001"


class UnassignedPaging(Paging):
    """Paging through inbound messages."""

    sent_to = fields.String("Only messages to this number.", NUMBER_EXAMPLE, validate=NUMBER)


class NumberQuery(Request):
    """How many numbers to show."""

    limit = limit("Numbers, 1 to 1,000.")


class Assignment(Request):
    """A number, and the account that gets the messages to it."""

    sent_to = fields.String("The number.", NUMBER_EXAMPLE, required=True, validate=NUMBER)
    account_id = account_id(required=True)
    reason = reason(required=False)


class UnassignedResponse(Response):
    """An inbound message of no account."""

    inbound_id = fields.UUID("The message.", INBOUND_ID, attribute="id")
    carrier = fields.String("The carrier that it came from.", "main")
    phone = fields.String("The sender; the middle is hidden without the scope `texts`.", PHONE)
    sent_to = fields.String("The number that it was sent to.", NUMBER_EXAMPLE)
    message = fields.String("The text; null without the scope `texts`.", "Yes", allow_none=True)
    missing_segments = fields.Integer("Segments that did not arrive.", 0)
    received_at = fields.Timestamp("When it came.", "2026-03-02T09:00:00.120Z")


class NumberResponse(Response):
    """A number that belongs to no account."""

    sent_to = fields.String("The number.", NUMBER_EXAMPLE)
    carrier = fields.String("The carrier.", "main")
    messages = fields.Integer("Messages to it.", 12)
    phones = fields.Integer("Phone numbers that sent them.", 9)
    newest = fields.Timestamp("When the last one came.", "2026-03-02T09:00:00.120Z")


class AssignedResponse(Response):
    """The messages are the account's."""

    sent_to = fields.String("The number.", NUMBER_EXAMPLE)
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    messages = fields.Integer("Messages that were assigned.", 12)
    more = fields.Boolean("Whether there are more: repeat the request.", False)
