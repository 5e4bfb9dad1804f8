"""Schemas of the opt-out list."""

from marshmallow import Schema, validate

from api.schemas import fields
from api.schemas.entries import Entries, RejectedEntryResponse
from api.schemas.examples import OTHER_PHONE, PHONE, REJECTED_PHONE
from api.schemas.fields import SENDER_ID_LENGTH, Request, doc
from api.schemas.paging import Paging
from api.schemas.sender_ids import SenderIdRequest
from shared.lifecycle import Category

MAX_REASON_LENGTH = 255


def _sender_id(description: str) -> fields.String:
    return fields.String(validate=SENDER_ID_LENGTH, metadata=doc(description, "ACME"))


class ScopeQuery(Request):
    """Which opt-outs of a phone number to remove: without `category` and `sender_id`, all of them."""

    category = fields.Enum(
        Category,
        by_value=True,
        metadata=doc(
            "Only the opt-out from this category. Without it and `sender_id`, all opt-outs of the number.", "marketing"
        ),
    )
    sender_id = _sender_id("Only the opt-out from this sender ID.")


class SuppressionImportQuery(Request):
    """How to read the file."""

    phone_column = fields.String(
        validate=validate.Length(1, 2_000, error="Use {min} to {max} characters."),
        metadata=doc("The column of the phone numbers: its name, or its number from 1. Default: found.", "phone"),
    )


class SuppressionsBody(SenderIdRequest):
    """Phone numbers to add to the opt-out list."""

    category = fields.Enum(
        Category,
        by_value=True,
        metadata=doc("The category that the opt-out applies to; without it, all.", "marketing"),
    )
    sender_id = _sender_id("The sender ID that the opt-out applies to; without it, all.")
    phones = Entries(
        required=True,
        metadata=doc(
            "1 to 100,000 phone numbers, in international form or as written in the account's country.",
            [PHONE, OTHER_PHONE],
            items={"type": "string"},
        ),
    )
    reason = fields.String(
        load_default="manual",
        validate=validate.Length(1, MAX_REASON_LENGTH, error="Use {min} to {max} characters."),
        metadata=doc("The reason, for your own records.", "opted out by phone call"),
    )


class SuppressionPaging(Paging):
    """Paging through the opt-out list, ordered by phone number."""

    phone = fields.Phone(metadata=doc("Only opt-outs of this phone number.", PHONE))
    category = fields.Enum(Category, by_value=True, metadata=doc("Only opt-outs from this category.", "marketing"))
    sender_id = _sender_id("Only opt-outs from this sender ID.")
    reason = fields.String(metadata=doc("Only opt-outs with this reason.", "stop"))


class SuppressionResponse(Schema):
    """A phone number that has opted out, and what the opt-out applies to."""

    phone = fields.String(required=True, metadata=doc("Digits only, starting with the country code.", PHONE))
    category = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The category that the opt-out applies to; null means all.", enum=[*map(str, Category), None]),
    )
    sender_id = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The sender ID that the opt-out applies to; null means all."),
    )
    reason = fields.String(
        required=True,
        metadata=doc(
            "The reason; `stop` after a STOP, `possible_stop` if a message may be one and nobody has decided yet,"
            " `carrier` if a carrier reported it.",
            "stop",
        ),
    )
    created_at = fields.Timestamp(
        required=True, metadata=doc("When it was added to the list.", "2026-02-20T17:04:11.000Z")
    )


class SuppressedCountsResponse(Schema):
    """Numbers of entries, by outcome."""

    submitted = fields.Integer(required=True, metadata=doc("Entries in the request.", 5))
    added = fields.Integer(required=True, metadata=doc("Phone numbers added to the list.", 3))
    unchanged = fields.Integer(required=True, metadata=doc("Phone numbers already on the list.", 1))
    duplicate = fields.Integer(
        required=True, metadata=doc("Entries whose phone number was listed before in this request.", 0)
    )
    invalid = fields.Integer(required=True, metadata=doc("Invalid entries; see `rejected`.", 1))


class RejectedSuppressionResponse(RejectedEntryResponse):
    """A rejected entry."""

    code = fields.String(
        required=True, metadata=doc("Why it was rejected.", "invalid_phone", enum=["invalid_phone", "invalid"])
    )


class SuppressedResponse(Schema):
    """The valid phone numbers are on the opt-out list."""

    counts = fields.Nested(
        SuppressedCountsResponse, required=True, metadata=doc("Numbers of added and rejected entries.")
    )
    rejected = fields.List(
        fields.Nested(RejectedSuppressionResponse),
        required=True,
        metadata=doc(
            "The rejected entries, at most 1,000.",
            [REJECTED_PHONE],
        ),
    )
    rejected_truncated = fields.Boolean(metadata=doc("Whether more were rejected than `rejected` lists.", True))


class UnsuppressedResponse(Schema):
    """The opt-outs were removed."""

    phone = fields.String(required=True, metadata=doc("Digits only, starting with the country code.", PHONE))
    removed = fields.Integer(required=True, metadata=doc("Opt-outs removed from the list.", 1))
