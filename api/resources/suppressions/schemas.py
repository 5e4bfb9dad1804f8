"""The opt-out list, as requests."""

from marshmallow import fields, validate

from api.resources.groups.schemas import MOST_ENTRIES, Entries
from api.schemas.base import Phone, Request
from api.schemas.paging import Paging
from shared.lifecycle import Category

LONGEST_REASON = 255


def _sender_id() -> fields.String:
    return fields.String(validate=validate.Length(1, 15, error="A sender ID has 1 to 15 characters."))


class ScopeQuery(Request):
    """Of what somebody has opted out: without `category` and `sender_id`, of everything."""

    category = fields.Enum(Category, by_value=True)
    sender_id = _sender_id()


class SuppressionsBody(ScopeQuery):
    """Phones that have opted out."""

    phones = Entries(
        required=True,
        metadata={"type": "array", "minItems": 1, "maxItems": MOST_ENTRIES, "items": {"type": "string"}},
    )
    reason = fields.String(
        load_default="manual", validate=validate.Length(1, LONGEST_REASON, error="Say it in {min} to {max} characters.")
    )


class SuppressionPaging(Paging):
    """A page of the opt-out list, by phone."""

    phone = Phone()
    category = fields.Enum(Category, by_value=True)
    sender_id = _sender_id()
    reason = fields.String()
