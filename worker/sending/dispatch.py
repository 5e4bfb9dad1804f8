"""The sending of a batch. One turn, top to bottom:

    claim      the next messages in fair order, under a lease; the durable intent        one commit on disk
    hand off   drop who has opted out meanwhile or has had enough; let wait where it is night
    submit     window after window, at the carrier's pace
    record     what was answered, and how far the next window may go                     a commit off disk
    settle     rows, counters and credits of the whole turn                              one commit on disk

A turn that dies anywhere is recovered when its lease runs out; at most one window's share is then in doubt. A send
that is paused, held or canceled, and a worker that is told to stop, stop at the end of the window under way.
"""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy import Engine

from shared.crashpoints import crashpoint
from shared.db.connection import AWAY
from shared.guard import Witness
from shared.settings import Settings
from worker.carriers.base import OURS, Answer, Carrier
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.sending.authentication_share import DEFAULT_SHARE, AuthenticationShare
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, all_that_waits, segments_of
from worker.sending.record import advance
from worker.sending.send_rules import apply_rules
from worker.sending.settle import settle
from worker.sending.suppression_check import Suppressions
from worker.sending.windows import next_window, note, parcels, unfinished

log = logging.getLogger(__name__)

TURN_SECONDS = 1.0
"""After so long a turn submits no other window; the rest of its intent goes back."""
MAX_AT_ONCE = 5_000
"""Segments of one turn when the carrier has no rate limit."""
FEW, COST_OF_TURN, GATHER_SECONDS, LONGEST_GATHER = 400, 40, 0.05, 0.2
"""After a turn of fewer messages than that, which were all that waited, the next one begins so many seconds later, for
each worker that there is: single sends come one by one. Twice as long after one of more messages than a turn costs."""
SMALL = 10
"""Messages of a batch. Of smaller ones a turn takes one window, where that is more than few: no watermark moves then,
and each batch is written twice, not three times."""
FIRST_SPEED = 1_000.0
"""Segments per second that the first turn is expected to submit; the next ones go by the turn before them."""
TURN_SHARE, MAX_SHARES = 0.25, 1.0
"""Seconds of the carrier's rate that the turns of one process claim together, and those of all processes: what is
claimed goes before what is more urgent and comes later."""
FIRST_WAIT, LONGEST_WAIT, MAX_WAITS = 0.1, 2.0, 6
"""Seconds between tries when throttled, and tries before the turn is given to others."""

LONG_AGO = 0.1
"""Seconds after which what the statement between two windows saw of opt-outs is old: it may have waited for a lock."""
PATIENCE = 60.0
"""Seconds for which a turn tries to settle while the database is away."""


class Dispatcher:
    """Takes turns for one worker process. Safe to use from several threads; each turn belongs to one of them.

    Where there are several carriers, these are the turns of one of them: of its `queue` only. `share` is the part of
    the carrier that authentication is guaranteed.
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
    ) -> None:
        self._engine = engine
        self._live = live
        self._simulator = simulator
        self._settings = settings
        self._queue = queue
        self._authentication_share = AuthenticationShare(share)
        self.breaker = breaker or CircuitBreaker(live, breaks=False)
        self.workers: Callable[[], int] = lambda: 1
        """How many worker processes are alive."""
        self._suppressions = Suppressions(engine)
        self._free = threading.BoundedSemaphore(settings.concurrency)
        self._speed = FIRST_SPEED
        self._size, self._segments = 100.0, 1.0
        """Messages of a batch, and segments of a message, in the last turn."""
        self._found = 0
        """Segments of the last turn that went to the carrier."""
        self._booking = threading.Lock()
        self._next, self._gap = 0.0, 0.0
        """When the next claim may be made, and the seconds between it and the one after it."""
        self.stop = threading.Event()
        self.witness = Witness()
        """Remembers the last claims, for the guard."""

    def drain(self) -> int:
        """Run cycles until nothing waits or the worker stops. Returns how many."""
        cycles = 0
        while not self.stop.is_set() and self.run_cycle():
            cycles += 1
        return cycles

    def run_cycle(self) -> bool:
        """Claim, submit and settle the next messages. False when nothing may be sent now.

        No more turns than the settings say are taken at a time, whoever asks: each has its share of the window.
        """
        with self._free:
            self._gather()
            if self.stop.is_set():
                return False
            stride = max(1, self._live.window // self._settings.concurrency)
            claimed = self._claim(stride)
            for test in (False, True):
                batches = [batch for batch in claimed if batch.test == test]
                if batches:
                    self._send(self.carrier_of(test), batches, stride)
            return bool(claimed)

    def _gather(self) -> None:
        """Wait until it is this turn's time to claim: while few messages come, more are to come before."""
        with self._booking:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._gap
        self.stop.wait(at - now)

    def _claim(self, stride: int) -> list[ClaimedBatch]:
        """As much as the carrier may be given now."""
        budget = self._budget(stride)
        batches = self._claim_within(budget, stride)
        if batches:
            self.witness.claimed(batches[0].batch_id, batches[0].epoch)
        messages = sum(len(batch.indexes) for batch in batches)
        few = 0 < messages < FEW and not self._settings.eager and all_that_waits(batches, budget)
        with self._booking:
            gap = GATHER_SECONDS * self.workers() * (1 + (messages > COST_OF_TURN))
            self._gap = min(LONGEST_GATHER, gap) if few else 0.0
            self._next = max(self._next, time.monotonic() + self._gap) if few else 0.0
        if batches:
            self._size = messages / len(batches)
            self._segments = segments_of(batches) / messages
        return batches

    def _claim_within(self, budget: int, stride: int) -> list[ClaimedBatch]:
        """Up to so many segments, if the carrier may be given any. Test keys never wait for it."""
        room = self.breaker.room(budget)
        if room:
            batches = self._claim_when_it_is_time(room, stride)
            if not batches:
                self.breaker.unused()
            return batches
        if self._queue is not None:
            return []
        return claim(self._engine, budget, stride, self._settings.lease, self._size, None, True)

    def _claim_when_it_is_time(self, room: int, stride: int) -> list[ClaimedBatch]:
        """Claims at the pace of the carrier: as much is booked as the last turn found."""
        pace, booked = self._live.pace, max(1, min(room, self._found))
        if not pace.book(booked):
            return []
        owed = self._authentication_share.due(room)
        lease, contended = self._settings.lease, pace.contended
        batches = claim(self._engine, room, stride, lease, self._size, self._queue, False, owed, contended)
        self._authentication_share.took(owed, batches)
        self._found = segments_of(batch for batch in batches if self.carrier_of(batch.test) is self._live)
        pace.booked(booked, self._found)
        return batches

    def carrier_of(self, test: bool) -> Carrier:
        """The carrier of a send: test keys always go to the simulator."""
        return self._simulator if test else self._live

    def _budget(self, stride: int) -> int:
        """Segments of the next turn: what can be submitted in its time."""
        rate = self._live.pace.allowed or self._live.rate
        if rate > 0:
            share = min(TURN_SHARE, MAX_SHARES / max(1, self.workers()))
            return min(MAX_AT_ONCE, max(1, int(rate * share / self._settings.concurrency)))
        if stride > FEW and self._size < SMALL:
            return min(MAX_AT_ONCE, int(stride * self._segments))
        return min(MAX_AT_ONCE, max(stride, int(self._speed * TURN_SECONDS)))

    def _send(self, carrier: Carrier, batches: list[ClaimedBatch], stride: int) -> None:
        list_read = self._suppressions.drop(batches)
        if apply_rules(self._engine, batches):  # which may have waited for others
            list_read = self._suppressions.drop(batches)
        breaker = self.breaker if carrier is self._live else None
        begun, submitted, waits = time.monotonic(), 0, 0
        while waits <= MAX_WAITS and (window := next_window(batches, stride)):
            segments = sum(len(positions) * batch.segments for batch, positions in window)
            crashpoint("submit.before")
            submitted_at = time.monotonic()
            outcomes = carrier.submit(parcels(window))
            answer_time = time.monotonic() - submitted_at
            crashpoint("submit.answered")
            submitted += segments
            if breaker is not None:
                breaker.note(outcomes)
            if note(window, outcomes, self._queue is not None, answer_time):
                if any(answer is Answer.THROTTLED and error not in OURS for answer, _, error in outcomes):
                    speed = submitted / max(0.001, time.monotonic() - begun)
                    carrier.pace.throttled(speed * self._settings.concurrency)
                self.stop.wait(min(LONGEST_WAIT, FIRST_WAIT * 2**waits))
                waits += 1
            if self.stop.is_set() or time.monotonic() - begun > TURN_SECONDS or not unfinished(batches):
                break
            if breaker is not None and breaker.is_stopping:
                break
            read = self._advance(carrier, batches, stride, list_read)
            if read is None:
                break
            list_read = read
        if submitted:
            self._speed = submitted / max(0.001, time.monotonic() - begun)
        self._settle(carrier, batches)

    def _advance(self, carrier: Carrier, batches: list[ClaimedBatch], stride: int, list_read: str) -> str | None:
        """Record, and let the next window leave, without who has opted out since the list was read.

        Returns the snapshot with which the list was read last. None when the database is away: then nothing more may
        leave.
        """
        begun = time.monotonic()
        try:
            advance(self._engine, batches, stride, carrier.name, self._settings.lease, list_read)
            if any(batch.opted_out for batch in batches) or time.monotonic() - begun > LONG_AGO:
                list_read = self._suppressions.drop(batches)
        except AWAY as error:
            log.warning("the database is away, a turn keeps what it knows until it can be recorded: %s", error)
            for batch in batches:
                batch.doubt_rows()
            return None
        return list_read

    def _settle(self, carrier: Carrier, batches: list[ClaimedBatch]) -> None:
        """Settle, trying again while the database is away: what is forgotten here would be in doubt."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                settle(self._engine, batches, carrier.name, LONGEST_WAIT, self._settings.resend_lanes)
                return
            except AWAY:
                if time.monotonic() > deadline:
                    raise
                for batch in batches:
                    batch.doubt_rows()
                time.sleep(0.5)
