"""The prices of one version of a list, in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from shared.sms.countries import PREFIX_DIGITS

ANY = ""
"""The category, or the prefix, that stands for all."""


class Price(NamedTuple):
    """What a segment to a phone costs, and why."""

    credits: int
    category: str
    """The category that it is for; empty: any."""
    prefix: str
    """The first digits of the phones that it is for; empty: all."""


class PriceTable:
    """Finds prices. A price of the send's own category comes before one of any, then the longest prefix counts."""

    def __init__(self, prices: Iterable[tuple[str, str, int]]) -> None:
        """`prices` are categories, prefixes and credits."""
        self._by_category: dict[str, dict[str, int]] = {}
        for category, prefix, credits in prices:
            self._by_category.setdefault(category, {})[prefix] = credits
        self._lengths = {
            category: sorted({len(prefix) for prefix in prices}, reverse=True)
            for category, prices in self._by_category.items()
        }
        self._significant = max((lengths[0] for lengths in self._lengths.values()), default=0)
        self._dearest_within: dict[str, dict[str, int]] = {}

    def find(self, phone: str, category: str) -> Price | None:
        """The price of a segment to a phone; None if the list has none."""
        for each in (category, ANY):
            prices = self._by_category.get(each)
            if prices is not None:
                for length in self._lengths[each]:
                    prefix = phone[:length]
                    if len(prefix) == length and prefix in prices:
                        return Price(prices[prefix], each, prefix)
        return None

    def prices_of(self, phones: Sequence[str], category: str) -> "PricesOfPhones":
        """The prices of many phones, each prefix looked up once."""
        significant = itemgetter(slice(self._significant))
        found = {
            prefix: None if (price := self.find(prefix, category)) is None else price.credits
            for prefix in set(map(significant, phones))
        }
        return PricesOfPhones(found, significant)

    def dearest(self, first_digits: str, category: str) -> int | None:
        """The highest price of a phone that begins with PREFIX_DIGITS digits; None if none of them has a price."""
        own = self.find(first_digits, category)
        of_all = own is not None and own.category == category
        within = [
            self._within(each)[first_digits]
            for each in ((category,) if of_all else (category, ANY))
            if first_digits in self._within(each)
        ]
        return max([*within, *([] if own is None else [own.credits])], default=None)

    def _within(self, category: str) -> dict[str, int]:
        """The highest of the category's prices for longer prefixes, by their first digits."""
        if category not in self._dearest_within:
            dearest: dict[str, int] = {}
            for prefix, credits in self._by_category.get(category, {}).items():
                if len(prefix) > PREFIX_DIGITS:
                    first_digits = prefix[:PREFIX_DIGITS]
                    dearest[first_digits] = max(credits, dearest.get(first_digits, 0))
            self._dearest_within[category] = dearest
        return self._dearest_within[category]

    def cost_bound(self, phones: Mapping[str, int], category: str) -> int | None:
        """The highest cost of a segment to each phone, which are counted by their first digits. None if it costs
        nothing because none has a price."""
        prices = {first_digits: self.dearest(first_digits, category) for first_digits in phones}
        known = [credits * phones[first_digits] for first_digits, credits in prices.items() if credits is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class PricesOfPhones:
    """Prices of phones by their significant digits; None: no price."""

    by_prefix: dict[str, int | None]
    significant: Callable[[str], str]

    def of(self, phone: str) -> int | None:
        """Credits of a segment to one of the phones."""
        return self.by_prefix[self.significant(phone)]

    @property
    def only(self) -> int | None:
        """The price, if all phones have the same one."""
        prices = set(self.by_prefix.values())
        return prices.pop() if len(prices) == 1 else None

    def positions(self, phones: Sequence[str]) -> dict[int | None, list[int]]:
        """The positions of the phones by their price."""
        by_price: dict[int | None, list[int]] = {}
        for position, phone in enumerate(phones):
            by_price.setdefault(self.of(phone), []).append(position)
        return by_price
