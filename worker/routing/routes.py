"""Chooses the carrier of a message just before it is sent: a pure function of the rules in CARRIERS_FILE, the message,
its attempts so far, and the available carriers.

The first route whose conditions the message meets applies. Its carriers are used in order, or the cheapest first. A
message goes to the next carrier if one has not taken it or is not available. If none is, it waits for the first. It
never goes to a second carrier while the first may have it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from shared.lifecycle import LANES
from shared.prices.price_table import Costs
from worker.pacing.sender_and_prefix_limits import Limit

Why = Literal["first", "cheapest", "fallback", "again", "waits", "only"]
"""first     the first in order                     again   an earlier one did not take it
cheapest  it costs the least                     waits   none is available, and this one is first
fallback  the one before is paused, down or open only    the send names it (`bulksms carrier test`)"""


class Choice(NamedTuple):
    """The chosen carrier, and the reason."""

    carrier: str
    route: str
    why: Why
    limits: tuple[str, ...] = ()
    """Names of the limits that apply to the message."""

    @property
    def queue(self) -> str:
        """The carrier's queue, or a separate one if limits apply."""
        return "/".join((self.carrier, *self.limits))

    @property
    def explanation(self) -> str:
        """Route and reason, as stored and shown: `kenya: fallback`."""
        return f"{self.route}: {self.why}"


def split_queue(queue: str) -> tuple[str, list[str]]:
    """The carrier of a queue, and the names of its limits."""
    carrier, *limits = queue.split("/")
    return carrier, limits


@dataclass(frozen=True, slots=True)
class Route:
    """One route. An empty condition matches every message."""

    name: str
    carriers: tuple[str, ...]
    prefixes: tuple[str, ...] = ()
    senders: frozenset[str] = frozenset()
    lanes: frozenset[int] = frozenset()
    cheapest: bool = False

    def fits(self, phone: str, sender: str, lane: int) -> bool:
        """Whether the message meets all conditions."""
        return (
            (not self.prefixes or phone.startswith(self.prefixes))
            and (not self.senders or sender in self.senders)
            and (not self.lanes or lane in self.lanes)
        )


@dataclass(slots=True)
class Routes:
    """All routes, in order; the last one takes every message. `prices` are by carrier and prefix; "" is the default.

    `costs` come before them. They are replaced as a whole while messages are sent.
    """

    routes: tuple[Route, ...]
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    """Slowest first. A message must keep all that apply to it."""
    costs: Costs = field(default_factory=dict)
    _digits: int = field(init=False)

    def __post_init__(self) -> None:
        prefixes = [prefix for route in self.routes for prefix in route.prefixes]
        prefixes += [prefix for prices in self.prices.values() for prefix in prices]
        prefixes += [limit.prefix for limit in self.limits if limit.prefix]
        self._digits = max(map(len, prefixes), default=0)

    def chooser(self, sender: str, lane: int, attempts: int, available: Collection[str]) -> Callable[[str], Choice]:
        """A function from phone to choice, for messages that are otherwise alike. Caches by prefix."""
        costs = self.costs
        digits = max([self._digits, *(table.significant for table in costs.values())])
        cache: dict[str, Choice] = {}

        def choose(phone: str) -> Choice:
            prefix = phone[:digits]
            choice = cache.get(prefix)
            if choice is None:
                choice = self._choose(*self._order(prefix, sender, lane, costs), attempts, available)
                if self.limits:
                    limits = tuple(limit.name for limit in self.limits if limit.applies_to(prefix, sender))
                    choice = choice._replace(limits=limits)
                cache[prefix] = choice
            return choice

        return choose

    def _order(self, prefix: str, sender: str, lane: int, costs: Costs) -> tuple[Route, tuple[str, ...]]:
        route = next(route for route in self.routes if route.fits(prefix, sender, lane))
        if not route.cheapest:
            return route, route.carriers
        return route, tuple(sorted(route.carriers, key=lambda carrier: self._price(carrier, prefix, lane, costs)))

    def seconds(self, choice: Choice, segments: int) -> float:
        """The least seconds that this many segments take by the limits; 0 if none applies."""
        rates = [limit.rate for limit in self.limits if limit.name in choice.limits and limit.rate > 0]
        return segments / min(rates) if rates else 0.0

    def _price(self, carrier: str, phone: str, lane: int, costs: Costs) -> float:
        """The carrier's price of a segment to the phone, by the longest matching prefix; infinite if there is none."""
        if carrier in costs:
            cost = costs[carrier].find(phone, LANES[lane])
            return float("inf") if cost is None else cost.credits
        prices = self.prices.get(carrier, {})
        prefixes = (phone[:digits] for digits in range(len(phone), -1, -1))
        return next((prices[prefix] for prefix in prefixes if prefix in prices), float("inf"))

    @staticmethod
    def _choose(route: Route, order: tuple[str, ...], attempts: int, available: Collection[str]) -> Choice:
        start = attempts % len(order)
        rotated = order[start:] + order[:start]
        chosen = next((carrier for carrier in rotated if carrier in available), None)
        if chosen is None:
            return Choice(rotated[0], route.name, "waits")
        if chosen == order[0]:
            return Choice(chosen, route.name, "cheapest" if route.cheapest else "first")
        return Choice(chosen, route.name, "again" if chosen == rotated[0] and attempts else "fallback")
