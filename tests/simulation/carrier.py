"""A model of a carrier, outside of the database: it knows what it took, and says so in every wrong way.

It takes a message and answers, takes it and does not answer, loses it, refuses it, has no time for it. Its receipts
come before the response, late, twice, out of order, contradictory or never, and each again until it was stored.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from shared.lifecycle import MessageStatus
from tests.simulation.tasks import stand
from worker.carriers.base import (
    CarrierInbox,
    LateResponse,
    MessageGroup,
    Outcome,
    Pace,
    Receipt,
    ResponseKind,
    UnlimitedPace,
)

SENT, UNDELIVERED, DELIVERED = MessageStatus.SENT, MessageStatus.UNDELIVERED, MessageStatus.DELIVERED
WORDS = (
    (DELIVERED,),
    (DELIVERED,),
    (DELIVERED,),
    (UNDELIVERED,),
    (SENT, DELIVERED),
    (UNDELIVERED, SENT),
    (UNDELIVERED, SENT, SENT),
    (DELIVERED, SENT),
    (DELIVERED, DELIVERED),
    (UNDELIVERED, UNDELIVERED),
    (UNDELIVERED, DELIVERED),
    (DELIVERED, UNDELIVERED),
    (SENT,),
    (),
)


class Breach(BaseException):
    """A promise was broken. Its first word names the oracle that saw it. No code of the product handles it."""


@dataclass(slots=True)
class Handed:
    """What the carrier knows of one message."""

    phone: str
    taken: int = 0
    """How often it was taken; more than once is a message too many on somebody's phone."""
    closed: bool = False
    """Whether it may not be submitted again: it was taken, or nobody learned that it was not."""
    reference: str | None = None
    reported: MessageStatus | None = None
    """The strongest receipt that was stored."""


@dataclass(slots=True)
class Rates:
    """How often what happens to a message that is submitted; the rest is taken and answered."""

    rejected: float = 0.03
    failed: float = 0.04
    throttled: float = 0.04
    full: float = 0.04
    """Of the phones: their queue is full for some time. It takes nothing from the seed."""
    unanswered: float = 0.03
    lost: float = 0.02
    late: float = 0.5
    """Of those without a response: how many get one later."""


@dataclass(slots=True)
class ModelCarrier:
    """A `worker.carriers.base.Carrier`."""

    name: str
    rate: float
    window: int
    rng: random.Random
    now: Callable[[], datetime]
    on_submit: Callable[[UUID, str, str], None]
    """Called with every message's id, phone and carrier before it is submitted."""
    doubted: Callable[[int, str], None]
    """Called with how many of a window had no response, and the carrier."""
    rates: Rates = field(default_factory=Rates)
    refused: Counter[str] = field(default_factory=Counter)
    """How often each full phone was tried."""
    messages: dict[UUID, Handed] = field(default_factory=dict)
    receipts: list[Receipt] = field(default_factory=list)
    """Not delivered yet."""
    late: list[LateResponse] = field(default_factory=list)
    by_reference: dict[str, Handed] = field(default_factory=dict)
    pace: Pace = field(default_factory=UnlimitedPace)
    trouble: str | None = None

    def open(self, inbox: CarrierInbox) -> None:
        """The scheduler delivers."""

    def close(self) -> None:
        """Nothing is open."""

    def submit(self, message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
        """Take the messages one after the other; the worker may die between two of them, or before the responses."""
        handed: list[tuple[Handed, Outcome]] = []
        stand("pace")
        for message_group in message_groups:
            for message, phone in zip(message_group.ids, message_group.phones, strict=True):
                if self.rng.random() < 0.1:
                    stand("submit.message")
                self.on_submit(message, phone, self.name)
                handed.append(self._hand_over(message, phone, message_group.sender_id))
        stand("submit.window")
        for known, outcome in handed:
            if outcome.response in (ResponseKind.FAILED, ResponseKind.THROTTLED, ResponseKind.POSTPONED):
                known.closed = False
        outcomes = [outcome for _, outcome in handed]
        self.doubted(sum(outcome.response == ResponseKind.IN_DOUBT for outcome in outcomes), self.name)
        return outcomes

    def _hand_over(self, message: UUID, phone: str, sender: str) -> tuple[Handed, Outcome]:
        known = self.messages.setdefault(message, Handed(phone))
        if known.closed:
            raise Breach(f"submitted_once: {message} is submitted again; it was taken {known.taken} times before")
        known.closed = True
        if self._is_full(phone):
            return known, Outcome(ResponseKind.POSTPONED, error="ESME_RMSGQFUL")
        rates, throw = self.rates, self.rng.random()
        for response, rate in (
            (ResponseKind.REJECTED, rates.rejected),
            (ResponseKind.FAILED, rates.failed),
            (ResponseKind.THROTTLED, rates.throttled),
        ):
            throw -= rate
            if throw < 0:
                return known, Outcome(response, error=str(response))
        if throw < rates.lost:
            self._answer_later(message, Outcome(ResponseKind.REJECTED, error="lost"))
            return known, Outcome(ResponseKind.IN_DOUBT)
        self._take(known, sender)
        accepted = Outcome(ResponseKind.ACCEPTED, known.reference)
        if throw < rates.lost + rates.unanswered:
            self._answer_later(message, accepted)
            return known, Outcome(ResponseKind.IN_DOUBT)
        return known, accepted

    def _is_full(self, phone: str) -> bool:
        """Whether the phone is one of those that are full, and this is one of the first attempts at it."""
        rng = random.Random(f"full {phone}")
        if rng.random() >= self.rates.full:
            return False
        self.refused[phone] += 1
        return self.refused[phone] <= rng.choice((1, 2, 5, 1_000_000))

    def _take(self, known: Handed, sender: str) -> None:
        known.taken += 1
        known.reference = f"{self.name[0]}{len(self.by_reference):05x}"
        self.by_reference[known.reference] = known
        named = known.phone if self.rng.random() < 0.9 else None
        sender_id = sender if self.rng.random() < 0.5 else None
        for word in self.rng.choice(WORDS):
            error = "absent" if word == UNDELIVERED else None
            self.receipts.append(Receipt(known.reference, word, error, self.now(), named, sender_id))

    def _answer_later(self, message: UUID, outcome: Outcome) -> None:
        if self.rng.random() < self.rates.late:
            self.late.append(LateResponse(message, outcome))

    def some_receipts(self) -> list[Receipt]:
        """Some of those that were not delivered yet, in any order."""
        some = self.rng.sample(self.receipts, min(len(self.receipts), self.rng.randint(1, 8)))
        for receipt in some:
            self.receipts.remove(receipt)
        return some

    def stored(self, receipts: list[Receipt]) -> None:
        """The product says that these are stored."""
        for receipt in receipts:
            known = self.by_reference[receipt.reference]
            known.reported = receipt.status if known.reported is None else stronger(known.reported, receipt.status)


def stronger(one: MessageStatus, other: MessageStatus) -> MessageStatus:
    """Of two statuses of a message the one that counts."""
    order = list(MessageStatus)
    return max(one, other, key=order.index)
