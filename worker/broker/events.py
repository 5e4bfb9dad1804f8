"""Task events (`celery events`, Flower) of a worker whose tasks run in threads.

Celery's dispatcher buffers events in a list, sends them, and then clears the list. Events that a thread adds in between
are lost, so most tasks appear never to end: https://github.com/celery/celery/issues/10434.
"""

import threading
from typing import Any

from celery.app.events import Events
from celery.events import EventDispatcher


class ThreadSafeDispatcher(EventDispatcher):  # type: ignore[misc]
    """Serializes sending and flushing."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._one_at_a_time = threading.RLock()
        super().__init__(*arguments, **options)

    def send(self, *arguments: Any, **fields: Any) -> Any:
        """As in Celery, under a lock."""
        with self._one_at_a_time:
            return super().send(*arguments, **fields)

    def flush(self, *arguments: Any, **options: Any) -> None:
        """As in Celery, under a lock."""
        with self._one_at_a_time:
            super().flush(*arguments, **options)


class ThreadSafeEvents(Events):  # type: ignore[misc]
    """The application's `events_cls`."""

    dispatcher_cls = ThreadSafeDispatcher
