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
        self._longer: dict[str, dict[str, tuple[int, int]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_category.values()))

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

    @property
    def significant(self) -> int:
        """How many first digits of a phone its price depends on."""
        return self._significant

    def prices_of(self, phones: Sequence[str], category: str) -> "PricesOfPhones":
        """The prices of many phones, each prefix looked up once."""
        significant = itemgetter(slice(self._significant))
        found = {
            prefix: None if (price := self.find(prefix, category)) is None else price.credits
            for prefix in (set(map(significant, phones)) if self._significant else [""])
        }
        return PricesOfPhones(found, significant)

    def bounds(self, first_digits: str, category: str) -> tuple[int | None, int | None]:
        """The lowest and the highest price of phones that begin with PREFIX_DIGITS digits.

        The lowest is None if some of them have no price, and both are if none of them has one.
        """
        own = self.find(first_digits, category)
        reachable = (category,) if own is not None and own.category == category else (category, ANY)
        found = [self._within(each)[first_digits] for each in reachable if first_digits in self._within(each)]
        credits = [*(each for pair in found for each in pair), *([] if own is None else [own.credits])]
        return None if own is None else min(credits), max(credits, default=None)

    def _within(self, category: str) -> dict[str, tuple[int, int]]:
        """The lowest and highest of the category's prices for longer prefixes, by their first digits."""
        if category not in self._longer:
            longer: dict[str, tuple[int, int]] = {}
            for prefix, credits in self._by_category.get(category, {}).items():
                if len(prefix) > PREFIX_DIGITS:
                    first_digits = prefix[:PREFIX_DIGITS]
                    lowest, highest = longer.get(first_digits, (credits, credits))
                    longer[first_digits] = min(lowest, credits), max(highest, credits)
            self._longer[category] = longer
        return self._longer[category]


@dataclass(frozen=True, slots=True)
class PricesOfPhones:
    """Prices of phones by their significant digits; None: no price."""

    by_prefix: dict[str, int | None]
    significant: Callable[[str], str]

    def of(self, phone: str) -> int | None:
        """Credits of a segment to one of the phones."""
        return self.by_prefix[self.significant(phone)]

    def unpriced(self, phones: Sequence[str]) -> list[str]:
        """The phones without a price."""
        return [phone for phone in phones if self.of(phone) is None] if None in self.by_prefix.values() else []

    def positions(self, phones: Sequence[str]) -> dict[int, Sequence[int]]:
        """The positions of the phones that have a price, by their price."""
        prices = set(self.by_prefix.values())
        known = [price for price in prices if price is not None]
        if len(prices) == len(known) == 1:
            return {known[0]: range(len(phones))}
        by_price: dict[int, list[int]] = {price: [] for price in known}
        for position, phone in enumerate(phones):
            price = self.of(phone)
            if price is not None:
                by_price[price].append(position)
        return {price: positions for price, positions in by_price.items() if positions}


Costs = Mapping[str, PriceTable]
"""What a segment costs us, by carrier; those that have a list of their own."""
WITHOUT_LIST = 1
"""Credits that a segment costs an account without a list."""
ONE_CREDIT = PriceTable([(ANY, ANY, WITHOUT_LIST)])
"""The prices of an account without a list."""
