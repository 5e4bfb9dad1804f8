"""Detects a stalled Celery consumer, which takes no tasks although some wait, and makes it reconnect.

A connection may die silently, so that the consumer waits forever for a broker that no longer knows it. The sweeper
still finds waiting batches in the database, but only once a second. And a consumer fetches no more once it has as many
unacknowledged tasks as it may: tasks whose acknowledgement was lost with the broker count against that limit forever.

A waiting task alone proves nothing: other workers, or threads of this one, may be about to take it. So tasks must be
waiting, or the consumer be full, with this worker idle, at every check for STALL_SECONDS.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from shared.periodic import repeat
from shared.task_queue import QUEUE

log = logging.getLogger(__name__)

STALL_SECONDS = 20.0
CHECK_SECONDS = 2.0


class ConsumerWatchdog:
    """Watches one worker's consumer. Without a `broker`, as when it is not Redis, it does nothing.

    >>> with watchdog.at_work():
    ...     work()
    """

    def __init__(
        self, broker: Redis | None, reconnect: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._broker = broker
        self._reconnect = reconnect
        self._clock = clock
        self._channel: Any = None
        self._at_work = 0
        self._lock = threading.Lock()
        self._stalled_since: float | None = None

    def start(self, stop: threading.Event) -> None:
        """Check every CHECK_SECONDS in a background thread, until `stop` is set."""
        repeat(self.check, CHECK_SECONDS, "consumer-watchdog", stop)

    def watch(self, channel: Any) -> None:
        """The channel (kombu's) of the consumer, each time that it has connected to the broker."""
        self._channel = channel

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Context of a task's work."""
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
        """Make the consumer reconnect if it has taken no task, with this worker idle, for STALL_SECONDS.

        Returns whether it did, which happens at most once in STALL_SECONDS. An unreachable broker is not a stall.
        """
        takes_none = self._takes_none()
        with self._lock:
            if not takes_none or self._at_work:
                self._stalled_since = None
                return False
            if self._stalled_since is None:
                self._stalled_since = self._clock()
            if self._clock() - self._stalled_since < STALL_SECONDS:
                return False
            self._stalled_since = None
        log.error("this worker's consumer takes no tasks; reconnecting to the broker")
        self._reconnect()
        return True

    def _takes_none(self) -> bool:
        """Whether tasks wait in the queue, or the consumer has as many as it may."""
        if self._broker is None:
            return False
        try:
            if self._broker.llen(QUEUE):
                return True
        except RedisError:
            return False
        return self._channel is not None and not self._channel.qos.can_consume()
