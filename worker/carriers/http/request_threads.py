"""The threads of an HTTP carrier's requests."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue


class RequestThreads:
    """Up to `threads` daemon threads, for which a process does not wait when it ends.

    It does wait for those of a ThreadPoolExecutor, here for a response that may not come.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._limit = threads
        self._name = name
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], object]) -> None:
        """Call a function, which raises nothing, in a thread. Raises RuntimeError, and calls nothing, if none can be
        started and none runs."""
        with self._lock:
            if len(self._threads) < self._limit:
                self._start()
        self._calls.put(call)

    def stop(self, seconds: float) -> None:
        """End the threads after all calls, and wait for that, but no longer than so many seconds."""
        deadline = time.monotonic() + seconds
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=f"{self._name}-{len(self._threads)}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            if not self._threads:
                raise
        else:
            self._threads.append(thread)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
