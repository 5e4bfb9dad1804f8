"""Knows when the database was unavailable. Logs an outage once when it begins and once when it ends, however many
operations fail."""

import logging
import math
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from shared.db.connection import is_outage, is_outage_or_timeout
from shared.health.finding import first_line

log = logging.getLogger(__name__)


class Outage:
    """Tracks whether one worker's database is available. Thread-safe."""

    def __init__(self) -> None:
        self._away = False
        self._ended = -math.inf
        """When the last outage ended, on the monotonic clock."""
        self._lock = threading.Lock()

    def is_recent(self, seconds: float) -> bool:
        """Whether the database is unavailable now, or was so within the last `seconds`."""
        return self._away or time.monotonic() < self._ended + seconds

    @contextmanager
    def tolerated(self) -> Generator[None]:
        """Context of work that is retried later: suppresses errors that mean that the database is unavailable, or that
        it aborted a statement, for instance because of a lock.

        An outage ends when such work succeeds, so it must be work that asks the database.
        """
        try:
            yield
        except Exception as error:
            if is_outage(error):
                self._begin(error)
                return
            if not is_outage_or_timeout(error):
                raise
            log.warning("the database aborted a statement; its work will be retried: %s", first_line(error))
        self._end()

    @contextmanager
    def tolerated_in_cycle(self) -> Generator[None]:
        """Context of a cycle: like `tolerated`, but logs any other error instead of raising it."""
        try:
            with self.tolerated():
                yield
        except Exception:
            log.exception("a cycle failed; its messages will be recovered when its lease expires")

    def _begin(self, error: Exception) -> None:
        with self._lock:
            first, self._away = not self._away, True
        if first:
            log.warning("the database is unavailable; nothing is sent until it is back: %s", first_line(error))

    def _end(self) -> None:
        with self._lock:
            back, self._away = self._away, False
            self._ended = time.monotonic() if back else self._ended
        if back:
            log.info("the database is available again")
