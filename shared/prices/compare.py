"""Says what a version changes: each destination that costs another price than before, and those below what carriers
cost. The prices are read in the order of their prefixes, so that no version is in memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, func, select

from shared.db.tables.prices import price
from shared.lifecycle import Category
from shared.prices.price_table import ANY

MAX_SHOWN: Final = 100
"""Changes of each kind that a comparison names."""
ROWS: Final = 10_000
"""Read at a time."""

Kind = Literal["added", "raised", "lowered", "removed", "below_cost"]


class PriceChange(NamedTuple):
    """A destination whose price is another one, or lower than what a carrier costs. None: it has no price."""

    change: Kind
    category: str
    prefix: str
    before: int | None
    after: int | None
    carrier: str | None = None
    cost: int | None = None


class Comparison(NamedTuple):
    """What a version changes: how many destinations by kind, and the first MAX_SHOWN of each kind."""

    counts: Counter[str]
    changes: list[PriceChange]

    @property
    def needs_notice(self) -> bool:
        """Whether somebody pays more, or cannot send any more."""
        return bool(self.counts["raised"] or self.counts["removed"])


Found = tuple[str, int] | None
"""A matched prefix, and the price."""
COLUMNS: Final = (ANY, *Category)


def compare(
    connection: Connection,
    before: int | None,
    after: int | None,
    *,
    anywhere: int | None = None,
    costs: Mapping[str, int] | None = None,
) -> Comparison:
    """Compare two versions in a transaction. Without a version, everything costs `anywhere`.

    `costs` are the versions of carriers' costs, by carrier.
    """
    result, carriers = Comparison(Counter(), []), list(costs or {})
    versions = [before, after, *(costs or {}).values()]
    root: list[Found] = [None if each is not None or anywhere is None else ("", anywhere) for each in versions]
    within = [("", [each for found in root for each in (found, None, None, None)])]
    """The prices of the prefix that was reached, and of each that it begins with: of every version by category."""
    for prefix, *priced in _by_prefix(connection, versions):
        while not prefix.startswith(within[-1][0]):
            within.pop()
        inherited = within[-1][1]
        prices = [each if own is None else (prefix, own) for own, each in zip(priced, inherited, strict=True)]
        within.append((prefix, prices))
        for category, found in _by_category(prices):
            was, now, *cost_of = found
            old, new = was and was[1], now and now[1]
            if old != new and _begins(prefix, was, now):
                _note(result, PriceChange(_kind(old, new), category, prefix, old, new))
            for name, cost in zip(carriers, cost_of, strict=True):
                if now is not None and cost is not None and now[1] < cost[1] and _begins(prefix, now, cost):
                    _note(result, PriceChange("below_cost", category, prefix, old, new, name, cost[1]))
    return result


def _by_prefix(connection: Connection, versions: Sequence[int | None]) -> Iterator[Sequence[Any]]:
    """The prices of every prefix, and first of all of the empty one: of each version by category, None without one."""
    credits = [
        func.max(price.c.price).filter(price.c.version_id == version, price.c.category == category)
        for version in versions
        for category in COLUMNS
    ]
    prefix = price.c.prefix.collate("C").label("digits")
    chosen = price.c.version_id.in_([each for each in versions if each is not None])
    statement = select(prefix, *credits).where(chosen).group_by(prefix).order_by(prefix)
    rows = iter(connection.execute(statement, execution_options={"stream_results": True, "yield_per": ROWS}))
    first = next(rows, ("",))
    if first[0] or len(first) == 1:
        yield ("", *(None for _ in credits))
    if len(first) > 1:
        yield first
    yield from rows


def _by_category(prices: list[Found]) -> Iterator[tuple[str, tuple[Found, ...]]]:
    """The prices of the versions for each category that has its own, and first for any, unless all have."""
    of_any = tuple(prices[::4])
    own = [number for number in (1, 2, 3) if any(prices[number::4])]
    if len(own) < len(Category):
        yield ANY, of_any
    for number in own:
        found = tuple(each or of_all for each, of_all in zip(prices[number::4], of_any, strict=True))
        if found != of_any or len(own) == len(Category):
            yield COLUMNS[number], found


def _begins(prefix: str, *found: Found) -> bool:
    """Whether one of the prices is that of this prefix, and not of a shorter one."""
    return any(each is not None and each[0] == prefix for each in found)


def _note(result: Comparison, change: PriceChange) -> None:
    result.counts[change.change] += 1
    if result.counts[change.change] <= MAX_SHOWN:
        result.changes.append(change)


def _kind(before: int | None, after: int | None) -> Kind:
    if before is None or after is None:
        return "added" if before is None else "removed"
    return "raised" if after > before else "lowered"
