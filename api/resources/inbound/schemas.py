"""Schemas of inbound messages."""

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import PHONE
from api.schemas.paging import Paging
from shared.inbound import Keyword


class InboundPaging(Paging):
    """Paging through inbound messages, newest first."""

    phone = fields.Phone("Only messages from this phone number.", PHONE)
    sender_id = fields.String("Only messages to this number of your account.", "254204000000")
    keyword = fields.Enum(Keyword, "Only messages with this keyword.", "stop")
    latest = fields.QueryBoolean("With `true`, only the newest message of each phone number.", "true")
    since = fields.Timestamp("Only messages received at this time or later.")
    until = fields.Timestamp("Only messages received before this time.")


class InboundResponse(Response):
    """An inbound message."""

    inbound_id = fields.UUID("The inbound message.", "019cad21-77a1-7d0e-8f3a-6b2f0c9e4d17", attribute="id")
    phone = fields.String("The phone number that sent it.", PHONE)
    sender_id = fields.String("Your number that received it.", "254204000000")
    message = fields.String("The text.", "STOP")
    keyword = fields.String(
        "What the text asks for: `stop` opts the phone number out, `start` opts it in again. `possible_stop` may be"
        " an opt-out: the phone number gets no marketing until somebody has decided. Null for any other text.",
        "stop",
        allow_none=True,
        one_of=[*Keyword, None],
    )
    segments = fields.Integer("Number of segments.", 1)
    missing_segments = fields.Integer(
        "Segments that never arrived; the text is then incomplete.", 0, attribute="missing"
    )
    carrier = fields.String("The carrier that delivered it.", "main")
    received_at = fields.Timestamp("When it was received.", "2026-03-02T09:05:12.040Z")
