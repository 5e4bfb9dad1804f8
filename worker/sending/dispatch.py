"""Sends batches in cycles. One cycle, top to bottom:

    claim      take the next messages in fair order, under a lease, and store the intent      a durable commit
    submit     drop recipients who opted out or have had enough messages, and defer quiet hours;
               then window after window, at the carrier's pace
    record     record the results, and allow the next window to leave                         an asynchronous commit
    settle     store rows, counters and credits of the whole cycle                            a durable commit

A cycle that dies is recovered when its lease expires; at most one window is then in doubt. If a send is paused, held or
canceled, or the worker is stopping, the cycle ends after the current window.
"""

import logging
import math
import threading
import time
from dataclasses import replace

from sqlalchemy import Engine

from shared.crashpoints import crashpoint
from shared.db.connection import UNAVAILABLE
from shared.observability import traces
from shared.sends.rest_of_batch import pauses
from shared.settings import Settings
from worker.carriers.base import Carrier, ResponseKind
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.sending.batch_log import log_results
from worker.sending.checks import drop_suppressed, filter_recipients
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, claimed_all, segments_of
from worker.sending.cycle_context import CycleContext
from worker.sending.cycle_trace import trace_cycle
from worker.sending.full_queues import FullQueues
from worker.sending.next_batches import DEFAULT_SHARE, AuthenticationShare, ClaimRequest
from worker.sending.record import record_results
from worker.sending.settle_complete import settle_complete
from worker.sending.settle_rest import SETTLE_SECONDS, settle_rest
from worker.sending.windows import apply_outcomes, count_results, count_window, message_groups, next_window, unfinished

log = logging.getLogger(__name__)

CYCLE_SECONDS = 1.0
"""A cycle begins no window after this; the rest of its intent is given back."""
MAX_CYCLE_SEGMENTS = 5_000
"""Segments of one cycle if the carrier has no rate limit."""
SMALL_CYCLE = 400
"""A cycle that claims everything and gets fewer messages than this delays the next one, so that more arrive: single
sends come one by one, and a cycle costs as much as forty messages."""
GATHER_SECONDS, MAX_GATHER_SECONDS = 0.1, 0.2
"""The delay, for each live worker, and its limit."""
INITIAL_RATE = 1_000.0
"""Segments per second expected of the first cycle. Later cycles go by the previous one."""
CYCLE_RATE_SECONDS, TOTAL_RATE_SECONDS = 0.25, 1.0
"""How much of the carrier's rate the cycles of one process claim together, and those of all processes, in seconds. What
is claimed precedes more urgent messages that arrive later."""
FIRST_WAIT, MAX_WAIT_SECONDS, MAX_WAITS = 0.1, 2.0, 6
"""Seconds between attempts while the carrier throttles, and attempts before the cycle gives the rest back."""
STALE_OPT_OUTS_SECONDS = 0.1
"""`record_results` looks for new opt-outs. If it took longer than this, it may have waited for a lock since: the list
is read again."""


class Dispatcher:
    """Runs the cycles of one worker process. Thread-safe; each cycle runs in one thread.

    With several carriers there is a dispatcher for each, which claims from its carrier's `queue` only. `share` is the
    part of the carrier that is guaranteed to authentication.
    """

    def __init__(
        self,
        engine: Engine,
        live: Carrier,
        simulator: Carrier,
        settings: Settings,
        breaker: CircuitBreaker | None = None,
        queue: str | None = None,
        share: float = DEFAULT_SHARE,
        context: CycleContext | None = None,
    ) -> None:
        context = context or CycleContext()
        self.stop, self.outage, self.live_workers = context.stop, context.outage, context.live_workers
        self.witness, self.paced_sends = context.witness, context.paced_sends
        self._engine = engine
        self._live, self._simulator = live, simulator
        self._settings, self._queue = settings, queue
        self._authentication_share = AuthenticationShare(share)
        self.breaker = breaker or CircuitBreaker(live, breaks=False)
        self._full_queues = FullQueues()
        self._free_cycles = threading.BoundedSemaphore(settings.concurrency)
        self._messages_per_second = INITIAL_RATE
        self._batch_size = 100.0
        """Messages per batch in the last cycle."""
        self._last_claimed = 0
        """Segments for the live carrier in the last cycle."""
        self._timing = threading.Lock()
        self._next_claim, self._delay = 0.0, 0.0
        """Time of the next claim (monotonic), and seconds between it and the one after it."""

    def drain(self, seconds: float = math.inf) -> int:
        """Run cycles until nothing waits, `seconds` have passed or the worker stops. Returns how many."""
        cycles, end = 0, time.monotonic() + seconds
        while not self.stop.is_set() and self.run_cycle():
            cycles += 1
            if time.monotonic() >= end:
                break
        return cycles

    def run_cycle(self) -> bool:
        """Wait until fewer than `concurrency` cycles run, and run one. False when nothing may be sent now."""
        with self._free_cycles:
            return self._cycle()

    def run_cycle_if_free(self) -> bool:
        """Like `run_cycle`, but True at once if as many cycles as may run are running: more may wait than they take."""
        if not self._free_cycles.acquire(blocking=False):
            return True
        try:
            return self._cycle()
        finally:
            self._free_cycles.release()

    def _cycle(self) -> bool:
        self._wait_for_more()
        if self.stop.is_set():
            return False
        claimed = self._claim()
        claimed_at = time.monotonic()
        for test in (False, True):
            batches = [batch for batch in claimed if batch.test == test]
            if batches:
                self._send(self.carrier_of(test), batches, claimed_at)
        if any(batch.rate_delay is not None for batch in claimed):
            self.paced_sends.sent(claimed, claimed_at)
        return bool(claimed)

    def _wait_for_more(self) -> None:
        """Wait until this cycle may claim. While few messages arrive, the wait lets more of them arrive."""
        with self._timing:
            now = time.monotonic()
            claim_at = max(now, self._next_claim)
            self._next_claim = claim_at + self._delay
        self.stop.wait(claim_at - now)

    def _claim(self) -> list[ClaimedBatch]:
        """Claim as much as the carrier may be given now."""
        request = ClaimRequest(
            budget=self._budget(),
            window_size=self._window_size,
            lease=self._settings.lease,
            expected_batch_size=self._batch_size,
        )
        batches = self._claim_within(request)
        messages = sum(len(batch.indexes) for batch in batches)
        small = 0 < messages < SMALL_CYCLE and not self._settings.eager and claimed_all(batches, request.budget)
        with self._timing:
            self._delay = min(MAX_GATHER_SECONDS, GATHER_SECONDS * self.live_workers.workers) if small else 0.0
            self._next_claim = max(self._next_claim, time.monotonic() + self._delay) if small else 0.0
        if batches:
            self.witness.claimed(batches[0].batch_id, batches[0].epoch)
            self._batch_size = messages / len(batches)
        return batches

    def _claim_within(self, request: ClaimRequest) -> list[ClaimedBatch]:
        """Claim within the budget. While the carrier may get nothing, only messages of test keys are claimed."""
        admitted = self.breaker.admit(request.budget)
        if admitted:
            live: list[ClaimedBatch] = []
            try:
                batches = self._claim_at_pace(replace(request, budget=admitted))
                live = self._of_live_carrier(batches)
            finally:
                if not live:
                    self.breaker.unused()
            return batches
        return [] if self._queue is not None else claim(self._engine, replace(request, only_tests=True))

    def _claim_at_pace(self, request: ClaimRequest) -> list[ClaimedBatch]:
        """Claim at the carrier's pace. Schedules as many segments as the last cycle claimed."""
        pace, scheduled = self._live.pace, max(1, min(request.budget, self._last_claimed))
        if not pace.schedule_claim(scheduled):
            return []
        owed = self._authentication_share.take_owed(request.budget)
        batches: list[ClaimedBatch] = []
        try:
            batches = claim(self._engine, replace(request, queue=self._queue, owed=owed, contended=pace.contended))
        finally:
            self._authentication_share.report(owed, batches)
            self._last_claimed = segments_of(self._of_live_carrier(batches))
            pace.correct_schedule(scheduled, self._last_claimed)
        return batches

    def _of_live_carrier(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        return [batch for batch in batches if self.carrier_of(batch.test) is self._live]

    def carrier_of(self, test: bool) -> Carrier:
        """The carrier of a send. Messages of test keys always go to the simulator."""
        return self._simulator if test else self._live

    @property
    def _window_size(self) -> int:
        return max(1, self._live.window // self._settings.concurrency)

    def _budget(self) -> int:
        """Segments that the next cycle can submit in its time."""
        rate = self._live.pace.allowed or self._live.rate
        if rate > 0:
            seconds = min(CYCLE_RATE_SECONDS, TOTAL_RATE_SECONDS / max(1, self.live_workers.workers))
            return min(MAX_CYCLE_SEGMENTS, max(1, int(rate * seconds / self._settings.concurrency)))
        return min(MAX_CYCLE_SEGMENTS, max(self._window_size, int(self._messages_per_second * CYCLE_SECONDS)))

    def _send(self, carrier: Carrier, batches: list[ClaimedBatch], claimed_at: float) -> None:
        trace = None if traces.tracer is None else trace_cycle(traces.tracer, carrier.name, batches, claimed_at)
        snapshot = filter_recipients(self._engine, batches)
        if snapshot is not None and time.monotonic() - claimed_at > self._settings.lease / 2:
            # The claim's other messages took long: renew the lease.
            snapshot = self._record_results(carrier, batches, snapshot)
        breaker = self.breaker if carrier is self._live else None
        begun, submitted, waits, size = time.monotonic(), 0, 0, self._window_size
        while snapshot is not None and waits <= MAX_WAITS and (window := next_window(batches, self._window_size)):
            segments = sum(len(positions) * batch.segments for batch, positions in window)
            crashpoint("submit.before")
            submitted_at = time.monotonic()
            outcomes = self._full_queues.judge(window, carrier.submit(message_groups(window)))
            response_time = time.monotonic() - submitted_at
            crashpoint("submit.answered")
            submitted += segments
            if trace is not None:
                trace.submitted(window, outcomes, submitted_at)
            if breaker is not None:
                breaker.note(outcomes)
            if not batches[0].test:
                count_window(carrier.name, window, outcomes, segments, time.monotonic() - claimed_at, response_time)
            if apply_outcomes(window, outcomes, response_time, several=self._queue is not None):
                if any(each.response is ResponseKind.THROTTLED and not each.is_unsubmitted for each in outcomes):
                    speed = submitted / max(0.001, time.monotonic() - begun)
                    carrier.pace.throttled(speed * self._settings.concurrency)
                self.stop.wait(min(MAX_WAIT_SECONDS, FIRST_WAIT * 2**waits))
                waits += 1
            if self.stop.is_set() or time.monotonic() - begun > CYCLE_SECONDS or not unfinished(batches, size):
                break
            if breaker is not None and breaker.is_stopping:
                break
            snapshot = self._record_results(carrier, batches, snapshot)
        if breaker is not None and not submitted:
            breaker.unused()
        if submitted:
            self._messages_per_second = submitted / max(0.001, time.monotonic() - begun)
        if trace is not None:
            trace.settling()
        self._settle_with_retry(carrier, batches)
        if trace is not None:
            trace.settled()
        count_results(carrier.name, batches)
        if any(batch.request_id is not None for batch in batches):
            log_results(carrier.name, batches)

    def _record_results(self, carrier: Carrier, batches: list[ClaimedBatch], opt_out_snapshot: str) -> str | None:
        """Record the results and allow the next window, without recipients who opted out since `opt_out_snapshot`.

        Returns the snapshot of the latest read of opt-outs, or None if nothing more may leave: the database is away.
        """
        begun = time.monotonic()
        try:
            record_results(
                self._engine, batches, self._window_size, carrier.name, self._settings.lease, opt_out_snapshot
            )
            if any(batch.opted_out for batch in batches) or time.monotonic() - begun > STALE_OPT_OUTS_SECONDS:
                opt_out_snapshot = drop_suppressed(self._engine, batches)
        except UNAVAILABLE as error:
            log.warning("the database is unavailable; a cycle keeps its results until they can be recorded: %s", error)
            for batch in batches:
                batch.mark_rows_uncertain()
            return None
        return opt_out_snapshot

    def _settle_with_retry(self, carrier: Carrier, batches: list[ClaimedBatch]) -> None:
        """Settle. Retry while the database is unavailable, as forgotten results would leave messages in doubt."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            try:
                if rest := settle_complete(self._engine, batches, carrier.name):
                    resend, after = self._settings.resend_lanes, pauses(self._settings.eager, self._queue is not None)
                    settle_rest(self._engine, rest, carrier.name, MAX_WAIT_SECONDS, resend, after)
                return
            except UNAVAILABLE:
                if time.monotonic() > deadline:
                    raise
                for batch in batches:
                    batch.mark_rows_uncertain()
                time.sleep(0.5)
