"""What a carrier driver is.

A driver knows one carrier's protocol and nothing else. The policy (order, pace, retries, money, doubt) lives above
it, so a new driver is made by copying one and changing how it talks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable
from uuid import UUID

from shared.carriers.receipts import Receipt as Receipt
from shared.carriers.unreadable import Unreadable
from shared.inbound import Inbound


class Answer(StrEnum):
    """What a carrier's answer to one submit means for the message."""

    ACCEPTED = "accepted"
    """The carrier has it."""
    THROTTLED = "throttled"
    """Certainly not taken: too fast, or the carrier's queue is full. Comes again, and is not an attempt."""
    REJECTED = "rejected"
    """Certainly not taken, and would not be taken another time."""
    FAILED = "failed"
    """Certainly not taken this time."""
    IN_DOUBT = "in_doubt"
    """Bytes left us and no answer came. Never submitted again."""


OURS = frozenset({"not_connected", "window_full", "not_in_time"})
"""Errors of throttled messages that never left us: the carrier said nothing of the kind."""


class Outcome(NamedTuple):
    """One message's answer, the carrier's id of it (raw, as received) and the carrier's code."""

    answer: Answer
    reference: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """Messages of one text from one sender: phones and message ids, in the same order."""

    sender_id: str
    text: str
    encoding: str
    segments: int
    expires_at: datetime
    ids: Sequence[UUID]
    phones: list[str]


class LateResponse(NamedTuple):
    """An answer that came after `submit` had given the message up as in doubt."""

    message_id: UUID
    outcome: Outcome


OnReceipts = Callable[[list[Receipt]], None]
"""Stores the receipts. When it returns they are committed, and only then may the carrier be answered."""

OnLateResponses = Callable[[list[LateResponse]], None]

OnInbound = Callable[[list[Inbound]], None]
"""Stores messages from phones. When it returns they are committed, and only then may the carrier be answered."""


OnUnreadable = Callable[[list[Unreadable]], None]
"""Keeps what could not be read. When it returns it is committed, and only then may the carrier be answered."""


@runtime_checkable
class KeepsUnreadable(Protocol):
    """A driver that has a carrier's deliveries as they came, and hands on those that it cannot read."""

    on_unreadable: OnUnreadable
    """Told before the driver is opened."""

    @property
    def unreadable(self) -> int:
        """How many could not be read since the driver was made."""

    @property
    def unknown_answers(self) -> int:
        """How many answers were to nothing that waits for one."""


class Pace(Protocol):
    """How fast messages may leave. A driver asks it just before it writes; how it is decided lies above the driver."""

    @property
    def chunk(self) -> int:
        """Segments that leave together at most; 0: as many as there are, and nobody need be asked."""

    @property
    def allowed(self) -> float:
        """Segments per second that may leave at present; 0 is no limit. Not for drivers."""

    @property
    def contended(self) -> bool:
        """Whether turns wait for each other, rather than for the carrier's answers. Not for drivers."""

    def take(self, segments: int, deadline: float) -> bool:
        """Wait until so many segments may leave. False: not before `deadline` (monotonic), and none may leave then."""

    def book(self, segments: int) -> bool:
        """Wait until a turn may claim so many segments. False: it may claim none now. Not for drivers."""

    def booked(self, segments: int, claimed: int) -> None:
        """What the turn claimed, that had booked so many segments. Not for drivers."""

    def throttled(self, taken: float) -> None:
        """The carrier throttles, after it took so many segments per second. Not for drivers."""


class Unpaced:
    """The pace of a carrier that nobody limits."""

    chunk, allowed, contended = 0, 0.0, False

    def take(self, segments: int, deadline: float) -> bool:
        """They may leave."""
        return True

    def book(self, segments: int) -> bool:
        """They may be claimed."""
        return True

    def booked(self, segments: int, claimed: int) -> None:
        """Nobody counts."""

    def throttled(self, taken: float) -> None:
        """Nobody slows down."""


class Carrier(Protocol):
    """One carrier, opened once in a worker process and used by its turns in several threads."""

    name: str
    rate: float
    """Segments per second that the carrier takes from all workers together; 0 is no limit. May change at any time."""
    window: int
    """Messages that may be unanswered at a time, per process. May change at any time."""
    pace: Pace
    """What is asked before messages leave; given to the driver before it is opened."""

    @property
    def trouble(self) -> str | None:
        """Why nothing can be submitted at present, such as a lost connection; None when it can."""

    def open(
        self, on_receipts: OnReceipts, on_late_responses: OnLateResponses, on_inbound: OnInbound | None = None
    ) -> None:
        """Connect, and begin to deliver receipts, late answers and messages from phones.

        Returns at once; connecting is retried. Without `on_inbound` messages from phones stay with the carrier.
        """

    def submit(self, parcels: list[Parcel], limit: Pace | None = None) -> list[Outcome]:
        """Submit the messages pipelined. Returns one outcome each, in order, within the carrier's answer time.

        `limit` is a pace of their own, which they wait for before they take any of the carrier's room.
        """

    def close(self) -> None:
        """Stop; what is under way is answered first where that is quick."""
