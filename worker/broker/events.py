"""Task events (`celery events`, Flower) of a worker whose tasks run in threads.

Celery's dispatcher gathers events in a list that it empties after it has sent it. What a thread adds in between is
lost, so that most tasks seem never to end: https://github.com/celery/celery/issues/10434.
"""

import threading
from typing import Any

from celery.app.events import Events
from celery.events import EventDispatcher


class ThreadSafeDispatcher(EventDispatcher):  # type: ignore[misc]
    """Sends and flushes one event after the other."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._one_at_a_time = threading.RLock()
        super().__init__(*arguments, **options)

    def send(self, *arguments: Any, **fields: Any) -> Any:
        """As Celery's."""
        with self._one_at_a_time:
            return super().send(*arguments, **fields)

    def flush(self, *arguments: Any, **options: Any) -> None:
        """As Celery's."""
        with self._one_at_a_time:
            super().flush(*arguments, **options)


class ThreadSafeEvents(Events):  # type: ignore[misc]
    """Named by the application's `events_cls`."""

    dispatcher_cls = ThreadSafeDispatcher
