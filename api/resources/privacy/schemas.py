"""Schemas of erasures."""

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import PHONE


class ErasureBody(Request):
    """The person to erase."""

    phone = fields.Phone("Digits only, starting with the country code.", PHONE, required=True)


class ErasureCountsResponse(Response):
    """What was erased."""

    messages = fields.Integer("Messages whose phone number was erased. Their status and cost are kept.", 3)
    texts = fields.Integer("Texts of sends to this phone number only.", 1)
    contacts = fields.Integer("Contacts removed, in all groups.", 2)
    inbound = fields.Integer("Inbound messages from the phone number.", 0)


class ErasureResponse(Response):
    """An erasure. It serves as a confirmation and does not contain the phone number."""

    erasure_id = fields.UUID(
        "The erasure; keep the id as the confirmation.", "019cad1e-3f78-7c3e-9b5f-2e61d08fa4c2", attribute="id"
    )
    status = fields.String(
        "`pending` until the phone number is erased everywhere. Messages already submitted are waited for,"
        " and those not yet submitted are not sent. `failed` if the service could not complete it; the operator"
        " sees this.",
        "completed",
        one_of=["pending", "completed", "failed"],
    )
    counts = fields.Nested(
        ErasureCountsResponse, "What has been erased so far.", {"messages": 3, "texts": 1, "contacts": 2, "inbound": 0}
    )
    created_at = fields.Timestamp("When it was requested.", "2026-03-02T09:00:00.120Z")
    completed_at = fields.Timestamp(
        "When it was completed; null if it is not.", "2026-03-02T09:00:40.010Z", allow_none=True
    )
