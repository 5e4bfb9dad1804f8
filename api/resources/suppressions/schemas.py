"""Schemas of the opt-out list."""

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.entries import Entries, RejectedEntryResponse
from api.schemas.examples import OTHER_PHONE, PHONE, REJECTED_PHONE
from api.schemas.fields import SENDER_ID_LENGTH
from api.schemas.paging import Paging
from api.schemas.sender_ids import SenderIdRequest
from shared.lifecycle import Category

MAX_REASON_LENGTH = 255


def _sender_id(description: str) -> fields.String:
    return fields.String(description, "ACME", validate=SENDER_ID_LENGTH)


class ScopeQuery(Request):
    """Which opt-outs of a phone number to remove: without any of these, all of them."""

    category = fields.Enum(
        Category,
        "Only the opt-out from this category. Without it and `sender_id`, all opt-outs of the number.",
        "marketing",
    )
    sender_id = _sender_id("Only the opt-out from this sender ID.")
    everything = fields.QueryBoolean("Only the opt-out from all messages, and no narrower one.", True)


class SuppressionImportQuery(Request):
    """How to read the file."""

    phone_column = fields.String(
        "The column of the phone numbers: its name, or its number from 1. Default: found.",
        "phone",
        validate=fields.length(1, 2_000),
    )


class SuppressionsBody(SenderIdRequest):
    """Phone numbers to add to the opt-out list."""

    category = fields.Enum(Category, "The category that the opt-out applies to; without it, all.", "marketing")
    sender_id = _sender_id("The sender ID that the opt-out applies to; without it, all.")
    phones = Entries(
        "1 to 100,000 phone numbers, in international form or as written in the account's country.",
        [PHONE, OTHER_PHONE],
        required=True,
        items={"type": "string"},
    )
    reason = fields.String(
        "The reason, for your own records.",
        "opted out by phone call",
        load_default="manual",
        validate=fields.length(1, MAX_REASON_LENGTH),
    )


class SuppressionPaging(Paging):
    """Paging through the opt-out list, ordered by phone number."""

    phone = fields.Phone("Only opt-outs of this phone number.", PHONE)
    category = fields.Enum(Category, "Only opt-outs from this category.", "marketing")
    sender_id = _sender_id("Only opt-outs from this sender ID.")
    reason = fields.String("Only opt-outs with this reason.", "stop")


class SuppressionResponse(Response):
    """A phone number that has opted out, and what the opt-out applies to."""

    phone = fields.String("Digits only, starting with the country code.", PHONE)
    category = fields.String(
        "The category that the opt-out applies to; null means all.", allow_none=True, one_of=[*Category, None]
    )
    sender_id = fields.String("The sender ID that the opt-out applies to; null means all.", allow_none=True)
    reason = fields.String(
        "The reason; `stop` after a STOP, `possible_stop` if a message may be one and nobody has decided yet,"
        " `carrier` if a carrier reported it.",
        "stop",
    )
    created_at = fields.Timestamp("When it was added to the list.", "2026-02-20T17:04:11.000Z")


class SuppressedCountsResponse(Response):
    """Numbers of entries, by outcome."""

    submitted = fields.Integer("Entries in the request.", 5)
    added = fields.Integer("Phone numbers added to the list.", 3)
    unchanged = fields.Integer("Phone numbers already on the list.", 1)
    duplicate = fields.Integer("Entries whose phone number was listed before in this request.", 0)
    invalid = fields.Integer("Invalid entries; see `rejected`.", 1)


class RejectedSuppressionResponse(RejectedEntryResponse):
    """A rejected entry."""

    code = fields.String("Why it was rejected.", "invalid_phone", one_of=["invalid_phone", "invalid"])


class SuppressedResponse(Response):
    """The valid phone numbers are on the opt-out list."""

    counts = fields.Nested(SuppressedCountsResponse, "Numbers of added and rejected entries.")
    rejected = fields.List(
        fields.Nested(RejectedSuppressionResponse), "The rejected entries, at most 1,000.", [REJECTED_PHONE]
    )
    rejected_truncated = fields.Boolean("Whether more were rejected than `rejected` lists.", True, required=False)


class UnsuppressedResponse(Response):
    """The opt-outs were removed."""

    phone = fields.String("Digits only, starting with the country code.", PHONE)
    removed = fields.Integer("Opt-outs removed from the list.", 1)
