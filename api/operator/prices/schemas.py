"""Schemas of price lists and their versions."""

from marshmallow import validate

from api.operator.fields import ACCOUNT_ID, account_id
from api.resources.prices.schemas import PRICE_FROM
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.fields import MAX_NAME_LENGTH
from shared.ids import LAST_NUMBER

LIST_ID, VERSION_ID = 3, 12
CHANGES = ("added", "raised", "lowered", "removed", "below_cost")


def _name(description: str, example: str, *, required: bool) -> fields.String:
    printable = validate.Predicate("isprintable", error="Remove the invisible characters.")
    return fields.String(
        description, example, required=required, validate=[fields.length(1, MAX_NAME_LENGTH), printable]
    )


class NewPriceList(Request):
    """A new list."""

    name = _name("A name that no other list has. Its accounts see it.", "Standard", required=True)
    carrier = _name(
        "The carrier whose costs it has. Without it, the list has prices of accounts.", "main", required=False
    )


class Publishing(Request):
    """When a version becomes valid."""

    valid_from = fields.Timestamp("From when it is valid; by default as soon as possible.", PRICE_FROM)


class NewPriceAssignment(Request):
    """Who gets which list."""

    account_id = account_id(
        "The account; null means every account without a list of its own.", required=True, allow_none=True
    )
    list_id = fields.WholeNumber(
        "The list; null means none.", LIST_ID, required=True, allow_none=True, validate=fields.between(1, LAST_NUMBER)
    )


class PriceAssignmentResponse(Response):
    """Who has which list."""

    account_id = fields.Integer(
        "The account; null means every one without a list of its own.", ACCOUNT_ID, allow_none=True
    )
    list_id = fields.Integer("The list; null means none.", LIST_ID, allow_none=True)
    valid_from = fields.Timestamp("From when.", PRICE_FROM)


class PricedAccountResponse(Response):
    """An account that has a list of its own."""

    account_id = fields.Integer("The account.", ACCOUNT_ID)
    name = fields.String("Its name.", "acme")


class PriceListResponse(Response):
    """A list."""

    list_id = fields.Integer("The list.", LIST_ID, attribute="id")
    name = fields.String("Its name.", "Standard")
    carrier = fields.String("The carrier whose costs it has; null: it has prices of accounts.", allow_none=True)
    version_id = fields.Integer("The version that is valid; null if none is.", 11, attribute="version", allow_none=True)
    is_default = fields.Boolean("Whether accounts without a list of their own have it.", True)
    accounts = fields.List(fields.Nested(PricedAccountResponse), "The accounts that have it as their own.")
    created_at = fields.Timestamp("When it was created.", "2026-03-02T09:00:00.120Z")


class PriceVersionResponse(Response):
    """A version of a list."""

    version_id = fields.Integer("The version.", VERSION_ID, attribute="id")
    list_id = fields.Integer("The list.", LIST_ID)
    status = fields.String("Its status.", "draft", one_of=["draft", "announced", "valid", "past", "withdrawn"])
    prices = fields.Integer("Number of its prices.", 240)
    created_at = fields.Timestamp("When it was uploaded.", "2026-03-02T09:00:00.120Z")
    valid_from = fields.Timestamp("From when it is valid; null if it is a draft.", allow_none=True)


class PriceListDetailsResponse(PriceListResponse):
    """A list with its versions."""

    versions = fields.List(fields.Nested(PriceVersionResponse), "Its versions, newest first.")


class PriceChangeResponse(Response):
    """A destination whose price is another one, or below what a carrier costs."""

    change = fields.String("What happens to the price.", "raised", one_of=CHANGES)
    category = fields.String("The category; empty: all that have no price of their own there.", "")
    prefix = fields.String("The first digits of the phone numbers; empty: all others.", "254")
    before = fields.Integer("The price before, in credits; null if there was none.", 12, allow_none=True)
    after = fields.Integer("The price after; null if there is none.", 14, allow_none=True)
    carrier = fields.String("The carrier that costs more; null unless `below_cost`.", allow_none=True)
    cost = fields.Integer("What it costs, in credits.", allow_none=True)


class PriceVersionDetailsResponse(PriceVersionResponse):
    """A version, and what it changes compared with the one before it."""

    list = fields.String("The name of its list.", "Standard")
    counts = fields.Counts("Changes by kind, and prices below cost.", {"raised": 1, "below_cost": 1})
    changes = fields.List(fields.Nested(PriceChangeResponse), "The first 100 changes of each kind.")
    earliest = fields.Timestamp("From when a draft can be valid; null if it is published.", PRICE_FROM, allow_none=True)
