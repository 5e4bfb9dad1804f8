"""Pages of lists, as requests."""

from marshmallow import fields, validate

from api.schemas.base import CURSOR_PATTERN, IN_RANGE, Moment, Phone, Request
from shared.lifecycle import MessageStatus, SendState


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
    since = Moment()
    until = Moment()
