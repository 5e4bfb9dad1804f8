"""Runs the cycles of several carriers in one worker process. Each carrier has its own threads, so that a slow,
throttled or unavailable carrier does not stop the others' messages."""

import math
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from shared.settings import Settings
from worker.carriers.base import Carrier
from worker.routing.queues import LimitedQueues
from worker.routing.sorter import Sorter
from worker.sending.cycle_context import CycleContext
from worker.sending.dispatch import Dispatcher

MAX_LIMITED = 64
"""Most queues with limits that one worker serves at a time."""


class CarrierPools:
    """Takes the place of a single `Dispatcher` if there are several carriers. Test keys always use the `simulator`."""

    def __init__(
        self,
        dispatchers: Mapping[str, Dispatcher],
        simulator: Carrier,
        sorter: Sorter,
        limited_queues: LimitedQueues,
        settings: Settings,
        context: CycleContext,
    ) -> None:
        self._dispatchers = dispatchers
        self._simulator = simulator
        self._sorter = sorter
        self._limited_queues = limited_queues
        self._settings = settings
        self._pool = ThreadPoolExecutor(max(1, settings.concurrency) * len(dispatchers), thread_name_prefix="cycle")
        self._limited_pool = ThreadPoolExecutor(MAX_LIMITED, thread_name_prefix="limited-cycle")
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._drain_calls = 0
        self.stop, self.outage = context.stop, context.outage

    def carrier_of(self, test: bool) -> Carrier:
        """The carrier of a batch that was claimed before several carriers were configured."""
        return self._simulator if test else next(iter(self._dispatchers.values())).carrier_of(False)

    def run_cycle_if_free(self) -> bool:
        """Does the same as `drain`, which waits for no cycle."""
        return bool(self.drain())

    def drain(self, seconds: float = math.inf) -> int:
        """Have each carrier's cycles run until nothing waits. Returns how many ran in this thread.

        Only where they run in this thread do they end after `seconds`.
        """
        if self._settings.eager:
            return self._drain_here(seconds)
        queues = self._sort()
        self._start_limited(self._limited_queues.waiting())
        with self._lock:
            self._drain_calls += 1
            queues |= {name for name in self._dispatchers if not self._running[name]}
            for name in queues & set(self._dispatchers):
                if self._running[name] < self._settings.concurrency and not self.stop.is_set():
                    self._running[name] += 1
                    self._pool.submit(self._run_cycles, name)
        return 0

    def follow(self) -> None:
        """Requeue batches of carriers that became available or unavailable. One worker does this for all."""
        self._sorter.follow()

    def close(self) -> None:
        """Wait for the cycles in progress. `stop` must be set."""
        self._pool.shutdown(wait=True)
        self._limited_pool.shutdown(wait=True)

    def _drain_here(self, seconds: float) -> int:
        total, queues, end = 0, set(self._dispatchers), time.monotonic() + seconds
        while not self.stop.is_set():
            queues |= self._sorter.sort() | self._limited_queues.waiting()
            cycles = sum(self._dispatcher_of(queue).run_cycle() for queue in sorted(queues))
            if not cycles:
                break
            total += cycles
            if time.monotonic() >= end:
                break
        return total

    def _dispatcher_of(self, queue: str) -> Dispatcher:
        return self._dispatchers.get(queue) or self._limited_queues.dispatcher(queue)

    def _sort(self) -> set[str]:
        """Sort waiting batches. Returns the queues that got any. Starts those with limits."""
        queues = self._sorter.sort()
        self._start_limited(queues - self._dispatchers.keys())
        return queues

    def _start_limited(self, queues: Collection[str]) -> None:
        for queue in queues:
            with self._lock:
                if not self._running[queue] and not self.stop.is_set():
                    self._running[queue] += 1
                    self._limited_pool.submit(self._run_limited, queue)

    def _run_limited(self, queue: str) -> None:
        """Run one cycle of a queue with limits, then let others go first: queues may outnumber threads."""
        did_work = False
        with self.outage.tolerated_in_cycle():
            did_work = self._limited_queues.dispatcher(queue).run_cycle()
            if did_work:
                self._sort()
        with self._lock:
            self._running[queue] -= 1
        if did_work:
            self._start_limited([queue])

    def _run_cycles(self, name: str) -> None:
        """One thread of a carrier. Ends when nothing waits and `drain` was not called meanwhile."""
        calls_seen = -1
        while True:
            with self._lock:
                if calls_seen == self._drain_calls or self.stop.is_set():
                    self._running[name] -= 1
                    return
                calls_seen = self._drain_calls
            with self.outage.tolerated_in_cycle():
                while not self.stop.is_set():
                    queues = self._sort()
                    if not self._dispatchers[name].run_cycle() and not queues:
                        break
