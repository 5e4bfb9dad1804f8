"""The turns of several carriers in one worker process: each carrier has threads of its own, so that one that is slow,
throttled or gone stops nobody else's messages."""

import logging
import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from shared.settings import Settings
from worker.carriers.base import Carrier
from worker.quiet import Outage
from worker.sorter import Sorter
from worker.turn import Turns

log = logging.getLogger(__name__)


class Fleet:
    """Stands where `Turns` stand when there is one carrier. Test keys always go to the `simulator`."""

    def __init__(
        self,
        turns: Mapping[str, Turns],
        simulator: Carrier,
        sorter: Sorter,
        settings: Settings,
        stop: threading.Event,
    ) -> None:
        self._turns = turns
        self._simulator = simulator
        self._sorter = sorter
        self._settings = settings
        self._pool = ThreadPoolExecutor(max(1, settings.turns) * len(turns), thread_name_prefix="turn")
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._called = 0
        self.stop = stop
        self.outage = Outage()

    def carrier_of(self, test: bool) -> Carrier:
        """The carrier of a batch that was claimed before there were several."""
        return self._simulator if test else next(iter(self._turns.values())).carrier_of(False)

    def drain(self) -> int:
        """See that each carrier's turns are taken until nothing waits. Returns how many were taken in this thread."""
        if self._settings.eager:
            return self._drain_here()
        called = self._sorter.sort()
        with self._lock:
            self._called += 1
            called |= {name for name in self._turns if not self._running[name]}
            for name in called & set(self._turns):
                if self._running[name] < self._settings.turns and not self.stop.is_set():
                    self._running[name] += 1
                    self._pool.submit(self._take_turns, name)
        return 0

    def follow(self) -> None:
        """Let the queues follow what has opened and closed; one worker does it for all."""
        self._sorter.follow()

    def close(self) -> None:
        """Wait for the turns under way. They must have been told to stop."""
        self._pool.shutdown(wait=True)

    def _drain_here(self) -> int:
        taken = 0
        while not self.stop.is_set():
            self._sorter.sort()
            turns = sum(turns.take_turn() for turns in self._turns.values())
            if not turns:
                break
            taken += turns
        return taken

    def _take_turns(self, name: str) -> None:
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
                        found = self._sorter.sort()
                        if not self._turns[name].take_turn() and not found:
                            break
            except Exception:
                log.exception("a turn failed; its messages are recovered when its lease runs out")
