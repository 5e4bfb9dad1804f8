"""A Celery consumer that reconnects after any broker error.

Celery ends a worker for every error that is not a lost connection, such as the errors of a Redis that is out of memory
or read-only, and an invalid entry in the queue. But a worker also sends what it finds in the database, and holds the
binds to the carriers, so it must survive them. An invalid entry may have been a task: the sweep finds its batch.

Celery's setting `worker_consumer` names the class.
"""

import logging
import time
from typing import Any

from celery.worker.consumer import Consumer

from shared.observability.metrics import CONNECTION_FAILURES

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""Seconds between attempts to connect to a broker that refuses the worker."""


class PersistentConsumer(Consumer):  # type: ignore[misc]
    """Treats every error as a lost connection: logs it and restarts the consumer."""

    connection_errors: tuple[type[Exception], ...]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lost_connection = (*self.connection_errors, *self.channel_errors)
        self.connection_errors = (Exception,)

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Log that the broker is unreachable or refuses the worker, and wait before the next attempt."""
        super().on_connection_error_before_connected(exc)
        CONNECTION_FAILURES.labels("broker").inc()
        time.sleep(RETRY_SECONDS)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Log a lost connection, a broker error or an invalid queue entry, before the consumer restarts."""
        if not isinstance(exc, self._lost_connection):
            log.error("the consumer failed and restarts; a queue entry may have been dropped: %r", exc)
        super().on_connection_error_after_connected(exc)
