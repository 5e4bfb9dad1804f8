"""The turns of several carriers in one worker process: each carrier has threads of its own, so that one that is slow,
throttled or gone stops nobody else's messages."""

import logging
import threading
from collections import Counter
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from shared.settings import Settings
from worker.carriers.base import Carrier
from worker.outages import Outage
from worker.routing.queues import LimitedQueues
from worker.routing.sorter import Sorter
from worker.sending.dispatch import Dispatcher

log = logging.getLogger(__name__)

MAX_LIMITED = 64
"""Queues with limits that one worker takes turns from at a time."""


class CarrierPools:
    """Stands where `Dispatcher` stand when there is one carrier. Test keys always go to the `simulator`."""

    def __init__(
        self,
        dispatchers: Mapping[str, Dispatcher],
        simulator: Carrier,
        sorter: Sorter,
        limited: LimitedQueues,
        settings: Settings,
        stop: threading.Event,
    ) -> None:
        self._dispatchers = dispatchers
        self._simulator = simulator
        self._sorter = sorter
        self._limited = limited
        self._settings = settings
        self._pool = ThreadPoolExecutor(max(1, settings.concurrency) * len(dispatchers), thread_name_prefix="turn")
        self._limited_pool = ThreadPoolExecutor(MAX_LIMITED, thread_name_prefix="limited-turn")
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._called = 0
        self.stop = stop
        self.outage = Outage()

    def carrier_of(self, test: bool) -> Carrier:
        """The carrier of a batch that was claimed before there were several."""
        return self._simulator if test else next(iter(self._dispatchers.values())).carrier_of(False)

    def drain(self) -> int:
        """See that each carrier's turns are taken until nothing waits. Returns how many were taken in this thread."""
        if self._settings.eager:
            return self._drain_here()
        called = self._sort()
        self._call_limited(self._limited.waiting())
        with self._lock:
            self._called += 1
            called |= {name for name in self._dispatchers if not self._running[name]}
            for name in called & set(self._dispatchers):
                if self._running[name] < self._settings.concurrency and not self.stop.is_set():
                    self._running[name] += 1
                    self._pool.submit(self._run_cycles, name)
        return 0

    def follow(self) -> None:
        """Let the queues follow what has opened and closed; one worker does it for all."""
        self._sorter.follow()

    def close(self) -> None:
        """Wait for the turns under way. They must have been told to stop."""
        self._pool.shutdown(wait=True)
        self._limited_pool.shutdown(wait=True)

    def _drain_here(self) -> int:
        taken, queues = 0, set(self._dispatchers)
        while not self.stop.is_set():
            queues |= self._sorter.sort() | self._limited.waiting()
            cycles = sum(self._dispatcher_of(queue).run_cycle() for queue in sorted(queues))
            if not cycles:
                break
            taken += cycles
        return taken

    def _dispatcher_of(self, queue: str) -> Dispatcher:
        return self._dispatchers.get(queue) or self._limited.dispatcher(queue)

    def _sort(self) -> set[str]:
        """Sort what waits. Returns the queues that got any; those with limits have then been called."""
        queues = self._sorter.sort()
        self._call_limited(queues - self._dispatchers.keys())
        return queues

    def _call_limited(self, queues: Collection[str]) -> None:
        for queue in queues:
            with self._lock:
                if not self._running[queue] and not self.stop.is_set():
                    self._running[queue] += 1
                    self._limited_pool.submit(self._take_limited, queue)

    def _take_limited(self, queue: str) -> None:
        """One turn of a queue with limits. Others have theirs before the next one: there may be more than threads."""
        taken = False
        try:
            with self.outage.tolerated():
                taken = self._limited.dispatcher(queue).run_cycle()
                if taken:
                    self._sort()
        except Exception:
            log.exception("a turn failed; its messages are recovered when its lease runs out")
        with self._lock:
            self._running[queue] -= 1
        if taken:
            self._call_limited([queue])

    def _run_cycles(self, name: str) -> None:
        """One thread of a carrier: ends when nothing waits, and nobody has called meanwhile."""
        heard = -1
        while True:
            with self._lock:
                if heard == self._called or self.stop.is_set():
                    self._running[name] -= 1
                    return
                heard = self._called
            try:
                with self.outage.tolerated():
                    while not self.stop.is_set():
                        found = self._sort()
                        if not self._dispatchers[name].run_cycle() and not found:
                            break
            except Exception:
                log.exception("a turn failed; its messages are recovered when its lease runs out")
