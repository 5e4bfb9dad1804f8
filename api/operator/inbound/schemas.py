"""Schemas of inbound messages of no account."""

from marshmallow import Schema, validate

from api.operator.fields import ACCOUNT_ID, account_id, reason
from api.schemas import fields
from api.schemas.examples import INBOUND_ID, PHONE
from api.schemas.fields import Request, doc
from api.schemas.paging import Paging, limit

NUMBER = validate.Length(1, 21, error="Use {min} to {max} characters.")
NUMBER_EXAMPLE = "254700000001"


class UnassignedPaging(Paging):
    """Paging through inbound messages."""

    sent_to = fields.String(validate=NUMBER, metadata=doc("Only messages to this number.", NUMBER_EXAMPLE))


class NumberQuery(Request):
    """How many numbers to show."""

    limit = limit("Numbers, 1 to 1,000.")


class Assignment(Request):
    """A number, and the account that gets the messages to it."""

    sent_to = fields.String(required=True, validate=NUMBER, metadata=doc("The number.", NUMBER_EXAMPLE))
    account_id = account_id(required=True)
    reason = reason(required=False)


class UnassignedResponse(Schema):
    """An inbound message of no account."""

    inbound_id = fields.UUID(required=True, attribute="id", metadata=doc("The message.", INBOUND_ID))
    carrier = fields.String(required=True, metadata=doc("The carrier that it came from.", "main"))
    phone = fields.String(
        required=True, metadata=doc("The sender; the middle is hidden without the scope `texts`.", PHONE)
    )
    sent_to = fields.String(required=True, metadata=doc("The number that it was sent to.", NUMBER_EXAMPLE))
    message = fields.String(
        required=True, allow_none=True, metadata=doc("The text; null without the scope `texts`.", "Yes")
    )
    missing_segments = fields.Integer(required=True, metadata=doc("Segments that did not arrive.", 0))
    received_at = fields.Timestamp(required=True, metadata=doc("When it came.", "2026-03-02T09:00:00.120Z"))


class NumberResponse(Schema):
    """A number that belongs to no account."""

    sent_to = fields.String(required=True, metadata=doc("The number.", NUMBER_EXAMPLE))
    carrier = fields.String(required=True, metadata=doc("The carrier.", "main"))
    messages = fields.Integer(required=True, metadata=doc("Messages to it.", 12))
    phones = fields.Integer(required=True, metadata=doc("Phone numbers that sent them.", 9))
    newest = fields.Timestamp(required=True, metadata=doc("When the last one came.", "2026-03-02T09:00:00.120Z"))


class NumbersResponse(Schema):
    """The numbers."""

    data = fields.List(fields.Nested(NumberResponse), required=True, metadata=doc("The numbers."))


class AssignedResponse(Schema):
    """The messages are the account's."""

    sent_to = fields.String(required=True, metadata=doc("The number.", NUMBER_EXAMPLE))
    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    messages = fields.Integer(required=True, metadata=doc("Messages that were assigned.", 12))
    more = fields.Boolean(required=True, metadata=doc("Whether there are more: repeat the request.", False))
