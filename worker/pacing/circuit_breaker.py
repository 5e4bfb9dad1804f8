"""Decides whether a carrier may get messages now: not while it is paused, has lost its bind, or keeps failing.

Each worker process has its own breaker per carrier. It opens after MAX_FAILURES messages in a row failed or got no
response: a carrier that swallows messages would put all of them in doubt. While it is open, a single message is sent
from time to time as a probe. The first one that the carrier accepts or rejects closes the breaker.

    closed ──MAX_FAILURES in a row──► open ──after a wait──► probing ──taken──► closed
                                         ▲────────failed, a longer wait────┘
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from worker.carriers.base import Carrier, Outcome, ResponseKind

MAX_FAILURES = 50
"""Consecutive failures in one worker that open the breaker."""
FIRST_WAIT, MAX_WAIT = 1.0, 30.0
"""Seconds until an open breaker lets a probe through; doubles each time."""
PROBE_TIMEOUT = 30.0
"""Seconds after which a probe counts as lost, and another may be sent."""
FAILURES = frozenset({ResponseKind.FAILED, ResponseKind.IN_DOUBT})

State = Literal["ready", "paused", "down", "open", "probing"]
"""`probing`: a probe is due. While it is on its way the state is `open`, so that the carrier gets no other batch."""


@dataclass(slots=True)
class OutcomeCounts:
    """Messages of this worker since its start."""

    submitted: int = 0
    throttled: int = 0
    failed: int = 0


@dataclass(slots=True)
class CircuitBreaker:
    """The circuit breaker of one carrier. Thread-safe."""

    carrier: Carrier
    breaks: bool = True
    """Whether failures open the breaker. False for the simulator in this process."""
    clock: Callable[[], float] = time.monotonic
    paused: bool = False
    counts: OutcomeCounts = field(default_factory=OutcomeCounts)
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When `state` last changed, as seen by its reader."""
    _failures: int = 0
    _error: str | None = None
    _wait: float = 0.0
    """0 while the breaker is closed."""
    _next_probe: float = 0.0
    _last_state: State = "ready"
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, budget: int) -> int:
        """How many of `budget` segments may be claimed now: all, one as a probe, or none."""
        if self.paused or self.carrier.trouble is not None:
            return 0
        if not self._wait:
            return budget
        with self._lock:
            if self.clock() < self._next_probe:
                return 0
            self._next_probe = self.clock() + PROBE_TIMEOUT
            return 1

    def unused(self) -> None:
        """Report that nothing was submitted of what was admitted. Another probe may follow at once."""
        with self._lock:
            if self._wait:
                self._next_probe = self.clock()

    def note(self, outcomes: list[Outcome]) -> None:
        """Record the outcomes of a window."""
        kinds = [outcome[0] for outcome in outcomes]
        if ResponseKind.FAILED in kinds:
            kinds = [ResponseKind.REJECTED if each.lacks_route else each.response for each in outcomes]
        throttled = kinds.count(ResponseKind.THROTTLED)
        unsubmitted = sum(outcome.is_unsubmitted for outcome in outcomes) if throttled else 0
        failures = next((index for index, kind in enumerate(reversed(kinds)) if kind not in FAILURES), len(kinds))
        with self._lock:
            self.counts.submitted += len(kinds) - unsubmitted
            if not self._failures and not self._wait and kinds.count(ResponseKind.ACCEPTED) == len(kinds):
                return
            self.counts.throttled += throttled - unsubmitted
            self.counts.failed += kinds.count(ResponseKind.FAILED)
            self._failures = failures + (self._failures if failures == len(outcomes) else 0)
            if ResponseKind.ACCEPTED in kinds or ResponseKind.REJECTED in kinds:
                self._wait = 0.0
            elif failures and self.breaks and (self._wait or self._failures >= MAX_FAILURES):
                self._wait = min(MAX_WAIT, 2 * self._wait or FIRST_WAIT)
                self._next_probe = self.clock() + self._wait
                self._error = outcomes[-1].error or "no_response"
            elif self._wait:
                self._next_probe = self.clock()

    @property
    def state(self) -> State:
        """The state shown to the operator."""
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
        """Whether cycles in progress must not submit another window."""
        return self.paused or self._wait > 0

    @property
    def error(self) -> str | None:
        """What is wrong with the carrier; None if nothing is."""
        return self.carrier.trouble or (self._error if self._wait else None)
