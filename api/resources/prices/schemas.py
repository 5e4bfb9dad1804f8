"""Schemas of prices."""

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.paging import Paging, next_cursor
from shared.lifecycle import Category

PRICE_FROM = "2026-03-09T00:00:00.000Z"


class PriceQuery(Paging):
    """Paging through prices, or the phone number whose price is wanted."""

    phone = fields.Phone("The phone number whose price is wanted.", "254711000000")
    category = fields.Enum(
        Category, "The category of the send to `phone`.", "transactional", load_default=Category.TRANSACTIONAL
    )
    at = fields.Timestamp("The prices that will be valid then, as far as they are announced; default: now.", PRICE_FROM)


class PriceResponse(Response):
    """A price of the list."""

    prefix = fields.String("The first digits of the phone numbers; null: all others.", "254", allow_none=True)
    country = fields.String("The country of the prefix, by ISO 3166-1; null: none or several.", "KE", allow_none=True)
    category = fields.String(
        "The category; null: all without a price of their own.", allow_none=True, one_of=[*Category, None]
    )
    price = fields.Integer("Credits per segment.", 12)


class PricePageResponse(Response):
    """A page of prices."""

    data = fields.List(fields.Nested(PriceResponse), "The prices, by category and prefix.")
    next_cursor = next_cursor()


class NextPriceResponse(Response):
    """What changes next."""

    version = fields.Integer("The next version of the list.", 12)
    valid_from = fields.Timestamp("From when it is valid.", PRICE_FROM)
    price = fields.Integer(
        "With `phone`: the next price; null: none, so that sends are refused.", 14, required=False, allow_none=True
    )


class PricesResponse(Response):
    """Without `phone`, the whole list in pages; with `phone`, its one price."""

    list = fields.String("The name of the price list; null: none, and a segment costs one credit.", allow_none=True)
    version = fields.Integer(
        "The version of the list that is valid then; sends are charged by it.", 11, allow_none=True
    )
    valid_from = fields.Timestamp("From when the version is valid.", PRICE_FROM, allow_none=True)
    next = fields.Nested(
        NextPriceResponse,
        "The next version; with `phone`, the next other price. Null if none is announced.",
        allow_none=True,
    )
    data = fields.List(fields.Nested(PriceResponse), "Without `phone`: prices by category and prefix.", required=False)
    next_cursor = fields.String("Without `phone`: the `cursor` of the next page.", required=False, allow_none=True)
    price = fields.Integer("With `phone`: credits per segment.", 12, required=False)
    prefix = fields.String("With `phone`: the matched prefix; null: any.", "254", required=False, allow_none=True)
    category = fields.String(
        "With `phone`: the matched category; null: any.", required=False, allow_none=True, one_of=[*Category, None]
    )
