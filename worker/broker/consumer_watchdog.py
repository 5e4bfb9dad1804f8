"""Notices a Celery consumer that has stalled: tasks wait in the queue, and it takes none. It then connects again.

A connection may die without a word, so that the consumer waits for ever on a broker that no longer knows of it. The
sweeper still finds in the database what waits, each second, but that is a second late each time.

A task that waits proves nothing by itself: other workers, or threads of this one, may be about to take it. So it must
be there, with this worker idle, at every look for STALL_SECONDS.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from redis import Redis
from redis.exceptions import RedisError

from shared.task_queue import QUEUE

log = logging.getLogger(__name__)

STALL_SECONDS = 20.0
CHECK_SECONDS = 2.0


class ConsumerWatchdog:
    """Watches one worker's consumer. Without a `broker`, because it is no Redis, it finds nothing.

    >>> with watchdog.at_work():
    ...     work()
    """

    def __init__(
        self, broker: Redis | None, reconnect: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._broker = broker
        self._reconnect = reconnect
        self._clock = clock
        self._at_work = 0
        self._lock = threading.Lock()
        self._stalled_since: float | None = None

    def start(self, stop: threading.Event) -> None:
        """Look every CHECK_SECONDS, until `stop` is set."""

        def run() -> None:
            while not stop.wait(CHECK_SECONDS):
                self.check()

        threading.Thread(target=run, name="consumer-watchdog", daemon=True).start()

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Around the work of a task."""
        with self._lock:
            self._at_work += 1
            self._stalled_since = None
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1
                self._stalled_since = None

    def check(self) -> bool:
        """Have the consumer connect again if tasks have waited, with this worker idle, for STALL_SECONDS.

        Returns whether it was told to. Then it has STALL_SECONDS before it is told again. A broker that is away keeps
        every worker from its tasks: that is no stall.
        """
        try:
            waiting = self._broker is not None and bool(self._broker.llen(QUEUE))
        except RedisError:
            waiting = False
        with self._lock:
            if not waiting or self._at_work:
                self._stalled_since = None
                return False
            if self._stalled_since is None:
                self._stalled_since = self._clock()
            if self._clock() - self._stalled_since < STALL_SECONDS:
                return False
            self._stalled_since = None
        log.error("tasks wait and this worker's consumer takes none: it connects to the broker again")
        self._reconnect()
        return True
