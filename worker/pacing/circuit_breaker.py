"""Says whether a carrier may be given messages now: not while it is paused, has lost its bind, or only fails.

A breaker of one worker process. It opens when message after message was failed or left without an answer, whoever they
were to; a carrier that swallows messages would put all of them in doubt. While it is open one message goes out now and
then. The first that the carrier takes, or refuses for good, closes it.

    closed ──MAX_FAILURES in a row──► open ──after a wait──► probing ──taken──► closed
                                         ▲────────failed, a longer wait────┘
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from worker.carriers.base import Answer, Carrier, Outcome

MAX_FAILURES = 50
"""In a row, of one worker."""
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0
"""Seconds until an open breaker lets a message through; each time twice as many."""
PATIENCE = 30.0
"""Seconds after which a probe counts as lost, and there may be another one."""
FAILURES = frozenset({Answer.FAILED, Answer.IN_DOUBT})

State = Literal["ready", "paused", "down", "open", "probing"]


@dataclass(slots=True)
class Counts:
    """Messages of this worker since it was started."""

    submitted: int = 0
    throttled: int = 0
    failed: int = 0


@dataclass(slots=True)
class CircuitBreaker:
    """The way to one carrier. Safe to use from several threads."""

    carrier: Carrier
    breaks: bool = True
    """Whether failures open the breaker; not those of the carrier that is simulated in this process."""
    clock: Callable[[], float] = time.monotonic
    paused: bool = False
    counts: Counts = field(default_factory=Counts)
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    """Of the state that was told last."""
    _failures: int = 0
    _error: str | None = None
    _wait: float = 0.0
    """0 while the breaker is closed."""
    _next_probe: float = 0.0
    _last_state: State = "ready"
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def room(self, budget: int) -> int:
        """How many of `budget` segments may be claimed now: all, one as a probe, or none."""
        if self.paused or self.carrier.trouble is not None:
            return 0
        if not self._wait:
            return budget
        with self._lock:
            if self.clock() < self._next_probe:
                return 0
            self._next_probe = self.clock() + PATIENCE
            return 1

    def unused(self) -> None:
        """What there was room for was not claimed: nothing waits."""
        with self._lock:
            if self._wait:
                self._next_probe = self.clock()

    def note(self, outcomes: list[Outcome]) -> None:
        """Learn from what a window came to."""
        answers = [outcome[0] for outcome in outcomes]
        self.counts.submitted += len(answers)
        if not self._failures and not self._wait and answers.count(Answer.ACCEPTED) == len(answers):
            return
        failures = next(
            (place for place, answer in enumerate(reversed(answers)) if answer not in FAILURES), len(answers)
        )
        with self._lock:
            self.counts.throttled += answers.count(Answer.THROTTLED)
            self.counts.failed += answers.count(Answer.FAILED)
            self._failures = failures + (self._failures if failures == len(outcomes) else 0)
            if Answer.ACCEPTED in answers or Answer.REJECTED in answers:
                self._wait = 0.0
            elif failures and self.breaks and (self._wait or self._failures >= MAX_FAILURES):
                self._wait = min(LONGEST_WAIT, 2 * self._wait or FIRST_WAIT)
                self._next_probe = self.clock() + self._wait
                self._error = outcomes[-1].error or "no_answer"
            elif self._wait:
                self._next_probe = self.clock()

    @property
    def state(self) -> State:
        """What the operator is told."""
        state: State = "ready"
        if self.paused:
            state = "paused"
        elif self.carrier.trouble is not None:
            state = "down"
        elif self._wait:
            state = "open" if self.clock() < self._next_probe else "probing"
        if state != self._last_state:
            self._last_state, self.since = state, datetime.now(UTC)
        return state

    @property
    def is_stopping(self) -> bool:
        """Whether the turns under way shall submit no other window."""
        return self.paused or self._wait > 0

    @property
    def error(self) -> str | None:
        """What is wrong with it; None while nothing is."""
        return self.carrier.trouble or (self._error if self._wait else None)
