"""Messages from phones, as requests."""

from marshmallow import fields

from api.schemas.base import Moment, Phone
from api.schemas.paging import Paging
from shared.inbound import Keyword


class InboundPaging(Paging):
    """A page of the messages from phones, newest first."""

    phone = Phone()
    sender_id = fields.String()
    keyword = fields.Enum(Keyword, by_value=True)
    since = Moment()
    until = Moment()
