"""Schemas of erasures."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import PHONE
from api.schemas.fields import Request, doc


class ErasureBody(Request):
    """The person to erase."""

    phone = fields.Phone(required=True, metadata=doc("Digits only, starting with the country code.", PHONE))


class ErasureCountsResponse(Schema):
    """What was erased."""

    messages = fields.Integer(
        required=True, metadata=doc("Messages whose phone number was erased. Their status and cost are kept.", 3)
    )
    texts = fields.Integer(required=True, metadata=doc("Texts of sends to this phone number only.", 1))
    contacts = fields.Integer(required=True, metadata=doc("Contacts removed, in all groups.", 2))
    inbound = fields.Integer(required=True, metadata=doc("Inbound messages from the phone number.", 0))


class ErasureResponse(Schema):
    """An erasure. It serves as a confirmation and does not contain the phone number."""

    erasure_id = fields.UUID(
        required=True,
        attribute="id",
        metadata=doc("The erasure; keep the id as the confirmation.", "019cad1e-3f78-7c3e-9b5f-2e61d08fa4c2"),
    )
    status = fields.String(
        required=True,
        metadata=doc(
            "`pending` until the phone number is erased everywhere. Messages already submitted are waited for,"
            " and those not yet submitted are not sent. `failed` if the service could not complete it; the operator"
            " sees this.",
            "completed",
            enum=["pending", "completed", "failed"],
        ),
    )
    counts = fields.Nested(
        ErasureCountsResponse,
        required=True,
        metadata=doc("What has been erased so far.", {"messages": 3, "texts": 1, "contacts": 2, "inbound": 0}),
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was requested.", "2026-03-02T09:00:00.120Z"))
    completed_at = fields.Timestamp(
        required=True,
        allow_none=True,
        metadata=doc("When it was completed; null if it is not.", "2026-03-02T09:00:40.010Z"),
    )
