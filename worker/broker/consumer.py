"""A Celery consumer that reconnects after any broker error.

Celery ends a worker for every error that is not a lost connection, such as the errors of a Redis that is out of memory
or read-only, and an invalid entry in the queue. But a worker also sends what it finds in the database, and holds the
binds to the carriers, so it must survive them. An invalid entry may have been a task, and each costs a reconnection,
which the tasks behind it wait for: the worker looks for messages at once.

Celery's setting `worker_consumer` names the class.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from celery.worker.consumer import Consumer

from shared.observability.metrics import CONNECTION_FAILURES

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""Seconds between attempts to connect to a broker that refuses the worker."""
INVALID_BURST, INVALID_BURST_SECONDS = 100, 4.0
"""After this many invalid entries within that time, Celery's own limit of restarts applies: it pauses for a second
after every sixth. With fewer, the tasks behind them do not wait."""


class PersistentConsumer(Consumer):  # type: ignore[misc]
    """Treats every error as a lost connection: logs it and restarts the consumer."""

    connection_errors: tuple[type[Exception], ...]
    look_for_messages: Callable[[], object] = staticmethod(lambda: None)
    """Has the worker look for messages that wait. Returns at once."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lost_connection = (*self.connection_errors, *self.channel_errors)
        self._failures = 0
        self._failed_at: deque[float] = deque(maxlen=INVALID_BURST)
        self.connection_errors = (Exception,)

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Log that the broker is unreachable or refuses the worker, and wait before the next attempt."""
        super().on_connection_error_before_connected(exc)
        CONNECTION_FAILURES.labels("broker").inc()
        time.sleep(RETRY_SECONDS)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Log a lost connection, a broker error or an invalid queue entry, before the consumer restarts."""
        if not isinstance(exc, self._lost_connection):
            self._failures += 1
            if len(self._failed_at) < INVALID_BURST or time.monotonic() - self._failed_at[0] > INVALID_BURST_SECONDS:
                self.restart_count = 0  # this restart is not counted
            self._failed_at.append(time.monotonic())
            log.error(
                "the consumer failed and restarts; a queue entry may have been dropped (failure %d): %r",
                self._failures,
                exc,
            )
            self.look_for_messages()
        super().on_connection_error_after_connected(exc)
