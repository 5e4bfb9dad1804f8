"""Rates of their own: of what a sender ID sends, and of what goes to phones with a prefix (`[[limits]]`).

All limits that count for a message hold, and its carrier's rate besides. Each is one token bucket for all workers, as
a carrier's rate is, and is asked when the message is about to be written. Messages that limits count for stand in
queues of their own (`worker.routing.queues`), so that nobody else's wait behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.carriers.base import Carrier, Outcome, Pace, Parcel


@dataclass(slots=True, eq=False)
class Limit:
    """Segments per second of what comes from the sender and goes to the prefix; None is any."""

    rate: float
    """May change at any time; 0 is no limit at present."""
    sender: str | None = None
    prefix: str | None = None
    name: str = field(init=False)
    """`sender ACME`, `prefix 2547`, `sender ACME prefix 2547`."""

    def __post_init__(self) -> None:
        sender = [] if self.sender is None else ["sender", self.sender]
        self.name = " ".join(sender + ([] if self.prefix is None else ["prefix", self.prefix]))

    def counts(self, phone: str, sender: str) -> bool:
        """Whether the message counts for it."""
        return self.sender in (None, sender) and phone.startswith(self.prefix or "")


class SharedPace:
    """The pace of messages for which several limits count: the slowest says how fast. Never empty."""

    def __init__(self, paces: Sequence[Pace], carrier: Carrier) -> None:
        self._paces = paces
        self._carrier = carrier

    @property
    def chunk(self) -> int:
        """Segments that leave together at most; 0 while no limit is left."""
        return min(filter(None, (pace.chunk for pace in self._paces)), default=0)

    @property
    def allowed(self) -> float:
        """Segments per second, by the limits and the carrier; 0 is no limit."""
        paces = (*self._paces, self._carrier.pace)
        return min(filter(None, (pace.allowed for pace in paces)), default=0.0)

    @property
    def contended(self) -> bool:
        """Whether turns wait for one of the limits, or for the carrier."""
        return any(pace.contended for pace in (*self._paces, self._carrier.pace))

    def take(self, segments: int, deadline: float) -> bool:
        """Wait until all limits let so many segments leave. False: not before `deadline` (monotonic)."""
        return all(pace.take(segments, deadline) for pace in self._paces)

    def book(self, segments: int) -> bool:
        """Wait until a turn may claim so many segments, by the limits and the carrier."""
        return all(pace.book(segments) for pace in (*self._paces, self._carrier.pace))

    def booked(self, segments: int, claimed: int) -> None:
        """What the turn claimed, that had booked so many segments."""
        for pace in (*self._paces, self._carrier.pace):
            pace.booked(segments, claimed)

    def throttled(self, taken: float) -> None:
        """The carrier throttles, whoever's messages they were."""
        self._carrier.pace.throttled(taken)


class RateLimitedCarrier:
    """A carrier as turns see it whose messages limits count for: a slower one. It is opened and closed elsewhere."""

    def __init__(self, carrier: Carrier, pace: SharedPace, turns: int) -> None:
        self.name = carrier.name
        self.pace = pace
        self._carrier = carrier
        self._cycles = turns

    @property
    def rate(self) -> float:
        """Segments per second at present; 0 is no limit."""
        return self.pace.allowed

    @property
    def window(self) -> int:
        """As many messages as one turn of the carrier may have unanswered."""
        return max(1, self._carrier.window // self._cycles)

    @property
    def trouble(self) -> str | None:
        """The carrier's."""
        return self._carrier.trouble

    def submit(self, parcels: list[Parcel]) -> list[Outcome]:
        """Submit through the carrier, at the pace of the limits."""
        return self._carrier.submit(parcels, self.pace)
