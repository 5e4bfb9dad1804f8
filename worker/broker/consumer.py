"""A Celery consumer that its broker cannot end: whatever the broker does or says, the worker connects again.

Celery ends a worker for every error that is not a lost connection, among them what Redis answers when it is out of
memory, read-only or refuses writes, and an entry in the queue that is no task. A worker also sends what it finds in
the database by itself, and holds the binds to the carriers, so it must outlive all of that.

The class is named by Celery's setting `worker_consumer`.
"""

import logging
import time
from typing import Any

from celery.worker.consumer import Consumer

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""Between two tries to connect to a broker that refuses the worker."""


class PersistentConsumer(Consumer):  # type: ignore[misc]
    """Treats every error as a lost connection: it is logged, and the consumer starts again."""

    connection_errors: tuple[type[Exception], ...]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lost_connection = (*self.connection_errors, *self.channel_errors)
        self._dropped = 0
        self.connection_errors = (Exception,)

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """The broker cannot be reached, or refuses this worker: say so, and try again a little later."""
        super().on_connection_error_before_connected(exc)
        time.sleep(RETRY_SECONDS)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """The connection was lost, the broker answered with an error, or an entry of the queue was no task."""
        if not isinstance(exc, self._lost_connection):
            self._dropped += 1
            log.error("an entry of the queue is no task; it was dropped (%d so far): %r", self._dropped, exc)
        super().on_connection_error_after_connected(exc)
