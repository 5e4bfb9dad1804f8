"""The prices of a send: those that are valid for its account now, or those of its quote."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from api.accept.stored_quotes import find_quote
from api.auth.tokens import Caller
from api.problems import Problem
from api.services import Services
from shared.lifecycle import Category
from shared.prices.price_table import ONE_CREDIT, PricesOfPhones, PriceTable
from shared.sends.batch_prices import Chunk, chunks_by_price
from shared.sends.batch_states import BATCH_SIZE
from shared.sms.countries import country_of, country_prefix

NO_PRICE = "Your price list has no price for this destination."
ByCountry = dict[str, tuple[int, int]]
"""Messages and credits by country; "" is none."""


class SegmentPrices(NamedTuple):
    """What a segment to each recipient costs. Of a group, at most."""

    highest: int
    total: int
    """Credits for a segment to all of them."""
    positions: Mapping[int, Sequence[int]] | None = None
    """Positions in a list by price, if they differ."""
    by_country: ByCountry | None = None
    """Of a group, if its prices differ."""
    unpriced: int = 0
    """Contacts of a group without a price."""

    def of_text(self, segments: int, phones: list[str]) -> dict[str, Any]:
        """The draft's values for a text that all recipients get."""
        if self.positions:
            chunks = chunks_by_price(phones, segments, self.positions, BATCH_SIZE)
            return {"segment_price": self.highest, "chunks": chunks, "by_country": by_country_of(chunks)}
        if self.by_country:
            by_country = {country: (count, cost * segments) for country, (count, cost) in self.by_country.items()}
            return {"segment_price": self.highest, "max_cost": self.total * segments, "by_country": by_country}
        return {"segment_price": self.highest}


class SendPrices(NamedTuple):
    """The prices of a version, in the category of a send."""

    version_id: int | None
    """None: one credit anywhere."""
    table: PriceTable
    category: Category

    def of_one(self, phone: str) -> SegmentPrices:
        """What a segment to the phone costs. Raises Problem if it has no price."""
        price = self.table.find(phone, self.category)
        if price is None:
            raise Problem("no_price", NO_PRICE)
        return SegmentPrices(price.credits, price.credits)

    def of_each(self, phones: list[str]) -> PricesOfPhones:
        """The prices of the phones, of which some may have none."""
        return self.table.prices_of(phones, self.category)

    def of_list(self, phones: list[str]) -> SegmentPrices:
        """What a segment to phones costs that all have a price."""
        positions = self.of_each(phones).positions(phones)
        total = sum(price * len(own) for price, own in positions.items())
        return SegmentPrices(max(positions, default=0), total, positions if len(positions) > 1 else None)

    def of_group(self, messages: Mapping[str, int], segments: Mapping[str, int]) -> SegmentPrices:
        """What a group's segments cost, which are counted by the first digits of phones, as are its messages.

        Raises Problem if none of them has a price.
        """
        bounds = {first_digits: self.table.bounds(first_digits, self.category) for first_digits in messages}
        known = {price for pair in bounds.values() for price in pair if price is not None}
        if not known:
            detail = "Your price list has no price for any contact of the group."
            raise Problem("no_valid_recipients", detail, rejected=[])
        by_country: ByCountry = {}
        for first_digits, (_, highest) in bounds.items():
            if highest is not None:
                _add(by_country, first_digits, messages[first_digits], segments[first_digits] * highest)
        unpriced = sum(messages.values()) - sum(count for count, _ in by_country.values())
        differ = len(known) > 1 or any(lowest is None for lowest, _ in bounds.values())
        total = sum(cost for _, cost in by_country.values())
        return SegmentPrices(max(known), total, None, by_country if differ else None, unpriced)


ONE_CREDIT_ANYWHERE = {category: SendPrices(None, ONE_CREDIT, category) for category in Category}


def prices_of_send(services: Services, caller: Caller, body: dict[str, Any], now: datetime) -> SendPrices:
    """The prices of a request: those of its quote if that is valid, else those that are valid now."""
    quoted = find_quote(services, caller.account_id, body["quote_id"]) if "quote_id" in body else None
    if quoted is not None:
        version_id = quoted.price_version_id
    else:
        version = services.prices.book().version_of(caller.account_id, now)
        version_id = None if version is None else version.id
    if version_id is None:
        return ONE_CREDIT_ANYWHERE[body["category"]]
    return SendPrices(version_id, services.prices.table(version_id), body["category"])


def by_country_of(chunks: list[Chunk]) -> ByCountry:
    """Messages and credits of a list's batches."""
    totals: ByCountry = {}
    for chunk in chunks:
        for first_digits, messages in Counter(map(country_prefix, chunk.phones)).items():
            _add(totals, first_digits, messages, messages * chunk.price)
    return totals


def _add(totals: ByCountry, first_digits: str, messages: int, cost: int) -> None:
    country = country_of(first_digits) or ""
    before = totals.get(country, (0, 0))
    totals[country] = before[0] + messages, before[1] + cost
