"""Lets many tasks that come together share the work that each of them asks for."""

import threading
import time
from collections.abc import Callable

EMPTY_SECONDS = 0.02
"""After work that found nothing, it begins again so many seconds after it began, and no sooner."""


class Coalescer:
    """Runs `work`, which returns how much it found. Safe to use from several threads.

    A caller returns at once while another waits to begin, as that one will find what was committed before the call. So
    a thousand tasks for batches that are done cost some queries each EMPTY_SECONDS.
    """

    def __init__(
        self, work: Callable[[], int], stop: threading.Event, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._work = work
        self._stop = stop
        self._clock = clock
        self._lock = threading.Lock()
        self._is_one_waiting = False
        self._next = float("-inf")

    def run(self) -> None:
        """See that `work` begins after this call, here or in another thread."""
        with self._lock:
            if self._is_one_waiting:
                return
            self._is_one_waiting = True
            wait = self._next - self._clock()
        if wait > 0:
            self._stop.wait(wait)
        with self._lock:
            self._is_one_waiting = False
        began = self._clock()
        if not self._work():
            with self._lock:
                self._next = began + EMPTY_SECONDS
