"""Rate limits by sender ID and phone prefix (`[[limits]]`).

A message must keep all limits that apply to it, and its carrier's rate. Like a carrier's rate, each limit is one token
bucket for all workers, checked when the message is about to be written. Messages with limits wait in separate queues
(`worker.routing.queues`), so that they do not delay others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.carriers.base import Carrier, MessageGroup, Outcome, Pace


@dataclass(slots=True, eq=False)
class Limit:
    """Segments per second from a sender to a phone prefix; None matches any."""

    rate: float
    """May change at any time; 0 means no limit at present."""
    sender: str | None = None
    prefix: str | None = None
    name: str = field(init=False)
    """`sender ACME`, `prefix 2547`, `sender ACME prefix 2547`."""

    def __post_init__(self) -> None:
        sender = [] if self.sender is None else ["sender", self.sender]
        self.name = " ".join(sender + ([] if self.prefix is None else ["prefix", self.prefix]))

    def applies_to(self, phone: str, sender: str) -> bool:
        """Whether the limit applies to the message."""
        return self.sender in (None, sender) and phone.startswith(self.prefix or "")


class CombinedPace:
    """The pace of messages with one or more limits: that of the slowest."""

    def __init__(self, paces: Sequence[Pace], carrier: Carrier) -> None:
        self._paces = paces
        self._carrier = carrier

    @property
    def chunk(self) -> int:
        """The most segments written together; 0 while no limit is in force."""
        return min(filter(None, (pace.chunk for pace in self._paces)), default=0)

    @property
    def allowed(self) -> float:
        """Segments per second, by the limits and the carrier; 0 means no limit."""
        paces = (*self._paces, self._carrier.pace)
        return min(filter(None, (pace.allowed for pace in paces)), default=0.0)

    @property
    def contended(self) -> bool:
        """Whether cycles wait for one of the limits, or for the carrier's rate."""
        return any(pace.contended for pace in (*self._paces, self._carrier.pace))

    def take(self, segments: int, deadline: float) -> bool:
        """Wait until all limits allow this many segments. False if not before `deadline` (monotonic)."""
        return all(pace.take(segments, deadline) for pace in self._paces)

    def schedule_claim(self, segments: int) -> bool:
        """Wait until a cycle may claim this many segments, by the limits and the carrier."""
        scheduled: list[Pace] = []
        for pace in (*self._paces, self._carrier.pace):
            if not pace.schedule_claim(segments):
                for earlier in scheduled:
                    earlier.correct_schedule(segments, 0)
                return False
            scheduled.append(pace)
        return True

    def correct_schedule(self, segments: int, claimed: int) -> None:
        """Report how many of the scheduled segments the cycle claimed."""
        for pace in (*self._paces, self._carrier.pace):
            pace.correct_schedule(segments, claimed)

    def throttled(self, taken: float) -> None:
        """Report that the carrier throttles. This slows the carrier, not the limits."""
        self._carrier.pace.throttled(taken)


class RateLimitedCarrier:
    """A carrier as seen by the cycles of a queue with limits: slower. Opened and closed elsewhere."""

    def __init__(self, carrier: Carrier, pace: CombinedPace, cycles: int) -> None:
        self.name = carrier.name
        self.pace = pace
        self._carrier = carrier
        self._cycles = cycles

    @property
    def rate(self) -> float:
        """Segments per second at present; 0 means no limit."""
        return self.pace.allowed

    @property
    def window(self) -> int:
        """The share of one cycle in the carrier's window."""
        return max(1, self._carrier.window // self._cycles)

    @property
    def trouble(self) -> str | None:
        """That of the carrier."""
        return self._carrier.trouble

    def submit(self, message_groups: list[MessageGroup]) -> list[Outcome]:
        """Submit through the carrier, at the pace of the limits."""
        return self._carrier.submit(message_groups, self.pace)
