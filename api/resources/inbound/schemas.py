"""Schemas of inbound messages."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import PHONE
from api.schemas.fields import doc
from api.schemas.paging import Paging
from shared.inbound import Keyword


class InboundPaging(Paging):
    """Paging through inbound messages, newest first."""

    phone = fields.Phone(metadata=doc("Only messages from this phone number.", PHONE))
    sender_id = fields.String(metadata=doc("Only messages to this number of your account.", "254204000000"))
    keyword = fields.Enum(Keyword, by_value=True, metadata=doc("Only messages with this keyword.", "stop"))
    latest = fields.QueryBoolean(metadata=doc("With `true`, only the newest message of each phone number.", "true"))
    since = fields.Timestamp(metadata=doc("Only messages received at this time or later."))
    until = fields.Timestamp(metadata=doc("Only messages received before this time."))


class InboundResponse(Schema):
    """An inbound message."""

    inbound_id = fields.UUID(
        required=True, attribute="id", metadata=doc("The inbound message.", "019cad21-77a1-7d0e-8f3a-6b2f0c9e4d17")
    )
    phone = fields.String(required=True, metadata=doc("The phone number that sent it.", PHONE))
    sender_id = fields.String(required=True, metadata=doc("Your number that received it.", "254204000000"))
    message = fields.String(required=True, metadata=doc("The text.", "STOP"))
    keyword = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "What the text asks for: `stop` opts the phone number out, `start` opts it in again. `possible_stop` may be"
            " an opt-out: the phone number gets no marketing until somebody has decided. Null for any other text.",
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
