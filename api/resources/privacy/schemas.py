"""Erasures."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.base import Request
from api.schemas.examples import PHONE
from api.schemas.fields import doc


class ErasureBody(Request):
    """The phone of the person to be erased."""

    phone = fields.Phone(required=True, metadata=doc("Digits only, starting with the country code.", PHONE))


class ErasureCountsResponse(Schema):
    """What was erased."""

    messages = fields.Integer(
        required=True, metadata=doc("Messages whose phone was erased; their status and cost stay.", 3)
    )
    texts = fields.Integer(required=True, metadata=doc("Texts of messages that were to this phone alone.", 1))
    contacts = fields.Integer(required=True, metadata=doc("Contacts, in all groups.", 2))
    inbound = fields.Integer(required=True, metadata=doc("Messages that were received from the phone.", 0))


class ErasureResponse(Schema):
    """The erasure of a person: a receipt, which does not name the phone."""

    erasure_id = fields.UUID(
        required=True,
        attribute="id",
        metadata=doc("The erasure; keep the id as the receipt.", "019cad1e-3f78-7c3e-9b5f-2e61d08fa4c2"),
    )
    status = fields.String(
        required=True,
        metadata=doc(
            "`pending` until nothing has the phone any more. What is on its way is waited for, and what waits to be"
            " sent is not sent. `failed`: the service could not do it, and its operator has been told.",
            "completed",
            enum=["pending", "completed", "failed"],
        ),
    )
    counts = fields.Nested(
        ErasureCountsResponse,
        required=True,
        metadata=doc("What was erased so far.", {"messages": 3, "texts": 1, "contacts": 2, "inbound": 0}),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was asked for.", "2026-03-02T09:00:00.120Z"))
    completed_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When the last of it was erased.", "2026-03-02T09:00:40.010Z")
    )
