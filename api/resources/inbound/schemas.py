"""Inbound messages."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import PHONE
from api.schemas.fields import doc
from api.schemas.paging import Paging
from shared.inbound import Keyword


class InboundPaging(Paging):
    """A page of the messages from phones, newest first."""

    phone = fields.Phone(metadata=doc("Only messages from this phone.", PHONE))
    sender_id = fields.String(metadata=doc("Only messages to this number of yours.", "254204000000"))
    keyword = fields.Enum(Keyword, by_value=True, metadata=doc("Only messages that ask for this.", "stop"))
    since = fields.Timestamp(metadata=doc("Received at this time or later."))
    until = fields.Timestamp(metadata=doc("Received before this time."))


class InboundResponse(Schema):
    """An inbound message."""

    inbound_id = fields.UUID(
        required=True, attribute="id", metadata=doc("The message from a phone.", "019cad21-77a1-7d0e-8f3a-6b2f0c9e4d17")
    )
    phone = fields.String(required=True, metadata=doc("The phone that sent it.", PHONE))
    sender_id = fields.String(required=True, metadata=doc("The number of yours that it was sent to.", "254204000000"))
    message = fields.String(required=True, metadata=doc("The text.", "STOP"))
    keyword = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "What a message that is nothing but such a word asks for: `stop` to be written to no more, `start` the"
            " opposite. Null for every other message.",
            "stop",
            enum=[*map(str, Keyword), None],
        ),
    )
    segments = fields.Integer(required=True, metadata=doc("Number of segments.", 1))
    missing_segments = fields.Integer(
        required=True,
        attribute="missing",
        metadata=doc("Segments that never arrived; the text is then incomplete.", 0),
    )
    carrier = fields.String(required=True, metadata=doc("The carrier that delivered it.", "main"))
    received_at = fields.Timestamp(required=True, metadata=doc("When it was received.", "2026-03-02T09:05:12.040Z"))
