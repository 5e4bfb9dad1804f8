"""Says what a version changes: each price that is another one than before, and those below what carriers cost."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final, Literal, NamedTuple

from sqlalchemy import Connection

from shared.prices.book import OF_VERSION
from shared.prices.costs import Costs
from shared.prices.price_table import PriceTable

MAX_SHOWN: Final = 100
"""Changes that a comparison names."""

Change = Literal["added", "raised", "lowered", "removed"]


class PriceChange(NamedTuple):
    """A destination whose price is another one. None: it has no price."""

    change: Change
    category: str
    prefix: str
    before: int | None
    after: int | None


class BelowCost(NamedTuple):
    """A price that is lower than what a carrier costs."""

    category: str
    prefix: str
    price: int
    carrier: str
    cost: int


class Comparison(NamedTuple):
    """What a version changes. The lists have the first MAX_SHOWN of each kind."""

    counts: Mapping[str, int]
    changes: list[PriceChange]
    below_cost_count: int
    below_cost: list[BelowCost]

    @property
    def needs_notice(self) -> bool:
        """Whether somebody pays more, or cannot send any more."""
        return bool(self.counts.get("raised") or self.counts.get("removed"))


Keys = list[tuple[str, str]]


def compare(connection: Connection, before: int | None, after: int, costs: Costs) -> Comparison:
    """Compare two versions of a list, by what each of their prefixes costs. `costs` are the carriers'."""
    old_keys, old = _table(connection, before)
    new_keys, new = _table(connection, after)
    counts: Counter[str] = Counter()
    changes: list[PriceChange] = []
    for each in _changes(old_keys, old, new_keys, new):
        counts[each.change] += 1
        if counts[each.change] <= MAX_SHOWN:
            changes.append(each)
    below = list(below_cost(new, costs))
    return Comparison(counts, changes, len(below), below[:MAX_SHOWN])


def _table(connection: Connection, version: int | None) -> tuple[Keys, PriceTable]:
    rows = [] if version is None else [tuple(row) for row in connection.execute(OF_VERSION, {"version": version})]
    return [(category, prefix) for category, prefix, _ in rows], PriceTable(rows)


def _changes(old_keys: Keys, old: PriceTable, new_keys: Keys, new: PriceTable) -> Iterator[PriceChange]:
    """A prefix that is new, but costs what a shorter one did, changes nothing; nor does one left out."""
    for category, prefix in dict.fromkeys([*old_keys, *new_keys]):
        found = old.find(prefix, category), new.find(prefix, category)
        before, after = (None if price is None else price.credits for price in found)
        if before == after:
            continue
        if before is None:
            change: Change = "added"
        elif after is None:
            change = "removed"
        else:
            change = "raised" if after > before else "lowered"
        yield PriceChange(change, category, prefix, before, after)


def below_cost(table: PriceTable, costs: Costs) -> Iterator[BelowCost]:
    """Each price that is lower than what a carrier costs there, or within its prefix, once."""
    for carrier, of_carrier in costs.items():
        keys = [*table.keys(), *of_carrier.keys()]
        categories, prefixes = sorted({category for category, _ in keys}), sorted({prefix for _, prefix in keys})
        found = set()
        for category, prefix in product(categories, prefixes):
            price, cost = table.find(prefix, category), of_carrier.find(prefix, category)
            if price is not None and cost is not None and price.credits < cost.credits and (price, cost) not in found:
                found.add((price, cost))
                yield BelowCost(category, prefix, price.credits, carrier, cost.credits)
