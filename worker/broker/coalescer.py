"""Coalesces tasks that arrive together into one run of the work."""

import threading
import time
from collections.abc import Callable

EMPTY_SECONDS = 0.02
"""Minimum seconds between the starts of two runs, if the first found nothing."""


class Coalescer:
    """Runs `work`, which returns how much it did. Thread-safe.

    A call returns at once if another is waiting to begin, as that one will find everything committed before the call.
    So a thousand tasks for finished batches cost only a few queries every EMPTY_SECONDS.
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
        """Ensure that `work` begins after this call, in this thread or another."""
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
