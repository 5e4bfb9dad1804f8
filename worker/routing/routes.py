"""Which carrier a message goes through, chosen when it is about to be sent: a pure function of the rules in
CARRIERS_FILE, of the message, of how often it was tried, and of which carriers are open.

The first route whose conditions the message meets decides. Its carriers are taken in their order, or the cheapest
first; a message that was not taken goes to the next one of them, and so does one whose carrier is not open. Where none
is open it waits for the first. It never goes to a second carrier while the first may have it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from worker.pacing.rate_limits import Limit

MAX_CACHED = 20_000
"""Prefixes whose carriers are remembered."""

Why = Literal["first", "cheapest", "fallback", "again", "waits", "only"]
"""first     the first in order                     again   an earlier one did not take it
cheapest  it costs the least                     waits   none is open, and this one is first
fallback  the one before is paused, down or open only    the send names it (`bulksms carriers test`)"""


class Choice(NamedTuple):
    """A carrier, and why."""

    carrier: str
    route: str
    why: Why
    limits: tuple[str, ...] = ()
    """Names of the limits that count for the message."""

    @property
    def queue(self) -> str:
        """Where it stands: in its carrier's queue, or where limits count in one of their own."""
        return "/".join((self.carrier, *self.limits))

    @property
    def explanation(self) -> str:
        """As it is stored and shown: `kenya: fallback`."""
        return f"{self.route}: {self.why}"


@dataclass(frozen=True, slots=True)
class Route:
    """Empty conditions are met by every message."""

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
    """All routes, in order; the last one takes every message. `prices` are by carrier and prefix; "" is every other."""

    routes: tuple[Route, ...]
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    """The slowest first; all that count for a message hold."""
    _digits: int = field(init=False)
    _remembered: dict[tuple[str, str, int], tuple[Route, tuple[str, ...]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        prefixes = [prefix for route in self.routes for prefix in route.prefixes]
        prefixes += [prefix for prices in self.prices.values() for prefix in prices]
        prefixes += [limit.prefix for limit in self.limits if limit.prefix]
        self._digits = max(map(len, prefixes), default=0)

    def chooser(self, sender: str, lane: int, attempts: int, open_now: Collection[str]) -> Callable[[str], Choice]:
        """A function from phones to choices, for messages that are otherwise alike. It remembers prefixes."""
        digits = self._digits
        known: dict[str, Choice] = {}

        def choose(phone: str) -> Choice:
            prefix = phone[:digits]
            choice = known.get(prefix)
            if choice is None:
                choice = self._choose(*self._order(prefix, sender, lane), attempts, open_now)
                if self.limits:
                    limits = tuple(limit.name for limit in self.limits if limit.counts(prefix, sender))
                    choice = choice._replace(limits=limits)
                known[prefix] = choice
            return choice

        return choose

    def _order(self, prefix: str, sender: str, lane: int) -> tuple[Route, tuple[str, ...]]:
        key = prefix, sender, lane
        found = self._remembered.get(key)
        if found is None:
            route = next(route for route in self.routes if route.fits(prefix, sender, lane))
            carriers = route.carriers
            if route.cheapest:
                carriers = tuple(sorted(carriers, key=lambda carrier: self.price(carrier, prefix)))
            if len(self._remembered) >= MAX_CACHED:
                self._remembered.clear()
            found = self._remembered[key] = route, carriers
        return found

    def seconds(self, choice: Choice, segments: int) -> float:
        """How long that many segments take by the limits at least; 0 where none counts."""
        rates = [limit.rate for limit in self.limits if limit.name in choice.limits and limit.rate > 0]
        return segments / min(rates) if rates else 0.0

    def price(self, carrier: str, phone: str) -> float:
        """What the carrier costs for a segment to the phone, by its longest prefix; endless where nothing is told."""
        prices = self.prices.get(carrier, {})
        longest = max((prefix for prefix in prices if phone.startswith(prefix)), key=len, default=None)
        return float("inf") if longest is None else prices[longest]

    @staticmethod
    def _choose(route: Route, order: tuple[str, ...], attempts: int, open_now: Collection[str]) -> Choice:
        start = attempts % len(order)
        turned = order[start:] + order[:start]
        chosen = next((carrier for carrier in turned if carrier in open_now), None)
        if chosen is None:
            return Choice(turned[0], route.name, "waits")
        if chosen == order[0]:
            return Choice(chosen, route.name, "cheapest" if route.cheapest else "first")
        return Choice(chosen, route.name, "again" if chosen == turned[0] and attempts else "fallback")
