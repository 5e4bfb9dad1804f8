"""Tells whether "queue full" (ESME_RMSGQFUL) is about single recipients, or about the carrier.

A carrier refuses a message in this way if the recipient's phone has been off for long, and some carriers also if they
have too much to do. So if many different phones get it at once, the carrier throttles.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.carriers.smpp.constants import Status
from worker.carriers.base import Outcome, ResponseKind
from worker.sending.windows import Window

FULL = Status.ESME_RMSGQFUL.name
MIN_PHONES, MIN_SHARE = 5, 0.1
"""More than this share of the latest messages, and at least so many phones, mean that the carrier throttles."""
MESSAGES, SECONDS = 100, 10.0
"""The latest messages: at least so many, or all of so many seconds if those are fewer."""


class Submitted(NamedTuple):
    """One window: when its responses came, how many messages it had, and which phones were full."""

    at: float
    messages: int
    full: frozenset[str]


@dataclass(slots=True)
class FullQueues:
    """What one worker knows of one carrier. Thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _windows: deque[Submitted] = field(default_factory=lambda: deque(maxlen=MESSAGES))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def judge(self, window: Window, outcomes: list[Outcome]) -> list[Outcome]:
        """The outcomes of a window; those of full queues are throttled ones if the carrier is full.

        A message that is tried again tells nothing new: its recipient was full before.
        """
        some_full = any(map(_is_full, outcomes))
        full = _first_refused(window, outcomes) if some_full else frozenset[str]()
        with self._lock:
            self._windows.append(Submitted(self.clock(), len(outcomes), full))
            if not some_full or not self._carrier_is_full():
                return outcomes
        return list(map(_throttled, outcomes))

    def _carrier_is_full(self) -> bool:
        messages, phones, since = 0, set[str](), self.clock() - SECONDS
        for submitted in reversed(self._windows):
            if messages >= MESSAGES or submitted.at < since:
                break
            messages += submitted.messages
            phones |= submitted.full
        return len(phones) >= MIN_PHONES and len(phones) > MIN_SHARE * messages


def _first_refused(window: Window, outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The phones that were refused at the first attempt."""
    tried = ((batch.attempts, batch.phones[position]) for batch, positions in window for position in positions)
    return frozenset(
        phone for (attempts, phone), outcome in zip(tried, outcomes, strict=True) if _is_full(outcome) and not attempts
    )


def _throttled(outcome: Outcome) -> Outcome:
    return outcome._replace(response=ResponseKind.THROTTLED) if _is_full(outcome) else outcome


def _is_full(outcome: Outcome) -> bool:
    """Whether the carrier said that a queue is full. What a declaration calls postponed is never the carrier's."""
    return outcome.response is ResponseKind.POSTPONED and (outcome.error or "").endswith(FULL)
