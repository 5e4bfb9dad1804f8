"""Pages of lists, as requests."""

from marshmallow import fields, validate

from api.schemas.base import CURSOR_PATTERN, IN_RANGE, LONGEST_REFERENCE, CanonicalUUID, Country, Moment, Phone, Request
from shared.carriers.error_catalogue import CATALOGUE as MESSAGE_ERRORS
from shared.lifecycle import MessageStatus, SendState

AN_ERROR = "There is no such error of messages; GET /api/v1/errors?kind=message lists them."
A_REFERENCE = "A reference has {min} to {max} characters."


class Paging(Request):
    """A page of a list."""

    limit = fields.Integer(load_default=50, validate=validate.Range(1, 1000, error=IN_RANGE))
    cursor = fields.String(metadata={"pattern": CURSOR_PATTERN})


class GroupPaging(Paging):
    """A page of the groups; without parameters, all of them."""

    limit = fields.Integer(load_default=None, validate=validate.Range(1, 1000, error=IN_RANGE))


class SendPaging(Paging):
    """A page of the sends, newest first."""

    status = fields.Enum(SendState, by_value=True)
    reference = fields.String()


class MessagePaging(Paging):
    """A page of messages."""

    status = fields.Enum(MessageStatus, by_value=True)


class HistoryPaging(MessagePaging):
    """A page of the account's messages, newest first."""

    phone = Phone()
    error = fields.String(validate=validate.OneOf(MESSAGE_ERRORS, error=AN_ERROR))
    permanent = fields.Boolean(truthy={"true"}, falsy={"false"})
    carrier = fields.String(validate=validate.Length(1, 40, error="A carrier's name has {min} to {max} characters."))
    country = Country()
    reference = fields.String(validate=validate.Length(1, LONGEST_REFERENCE, error=A_REFERENCE))
    group_id = CanonicalUUID()
    since = Moment()
    until = Moment()


class ErrorQuery(Request):
    """Which errors are listed."""

    kind = fields.String(
        load_default="request", validate=validate.OneOf(["request", "message"], error="Give request or message.")
    )
