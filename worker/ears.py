"""Notices that this worker is deaf: doorbells wait in the queue, and its Celery consumer takes none.

A consumer whose connection died without a word, or that did not come up again after its broker was away, stays alive
and hears nothing. The sweeper still finds what waits, each second, but that is a second late each time. So a worker
that is found deaf ends, and its supervisor starts it again.

A doorbell that waits is no proof by itself: other workers, or turns of this one, may be about to take it. So it must
be there, with this worker idle, at every look for DEAF_SECONDS.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from redis import Redis
from redis.exceptions import RedisError

from shared.queue import QUEUE

log = logging.getLogger(__name__)

DEAF_SECONDS = 20.0
LOOK_SECONDS = 2.0
PATIENCE = 30.0
"""Seconds that a deaf worker has to end by itself."""


def end_this_worker() -> None:
    """Let Celery stop as it does when told to; a process that does not even hear that is ended."""
    threading.Timer(PATIENCE, os._exit, (1,)).start()
    os.kill(os.getpid(), signal.SIGTERM)


class Ears:
    """Watches one worker's consumer. Without a `broker`, because it is no Redis, it finds nothing.

    >>> with ears.hearing():
    ...     work()
    """

    def __init__(
        self,
        broker: Redis | None,
        on_deaf: Callable[[], None] = end_this_worker,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._broker = broker
        self._on_deaf = on_deaf
        self._clock = clock
        self._at_work = 0
        self._lock = threading.Lock()
        self._unheard_since: float | None = None

    def start(self, stop: threading.Event) -> None:
        """Look every LOOK_SECONDS, until `stop` is set or the worker was found deaf."""

        def run() -> None:
            while not stop.wait(LOOK_SECONDS):
                if self.deaf():
                    log.error("doorbells wait and this worker hears none of them: it ends, to be started again")
                    self._on_deaf()
                    return

        threading.Thread(target=run, name="ears", daemon=True).start()

    @contextmanager
    def hearing(self) -> Generator[None]:
        """Around the work that a doorbell brought."""
        with self._lock:
            self._at_work += 1
            self._unheard_since = None
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1
                self._unheard_since = None

    def deaf(self) -> bool:
        """Whether doorbells have waited at every look for DEAF_SECONDS while this worker was idle.

        Without the broker nobody hears, and that is no reason to end.
        """
        try:
            waiting = self._broker is not None and bool(self._broker.llen(QUEUE))
        except RedisError:
            waiting = False
        with self._lock:
            if not waiting or self._at_work:
                self._unheard_since = None
                return False
            if self._unheard_since is None:
                self._unheard_since = self._clock()
            return self._clock() - self._unheard_since >= DEAF_SECONDS
