"""Says once that the database is away, and once that it is back, however many fail meanwhile."""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from shared.db.connection import AWAY

log = logging.getLogger(__name__)


def is_away(error: Exception) -> bool:
    """Whether the error means that the database did not answer, and not that something is wrong with what was asked."""
    return isinstance(error, AWAY) or (isinstance(error, DBAPIError) and error.connection_invalidated)


class Outage:
    """One worker's view of its database. Safe to use from several threads."""

    def __init__(self) -> None:
        self._away = False
        self._lock = threading.Lock()

    @contextmanager
    def tolerated(self) -> Generator[None]:
        """Around work that is done again later: what fails because the database is away is not raised."""
        try:
            yield
        except Exception as error:
            if not is_away(error):
                raise
            with self._lock:
                first, self._away = not self._away, True
            if first:
                log.warning("the database does not answer; nothing is sent until it does: %s", _first_line(error))
        else:
            with self._lock:
                back, self._away = self._away, False
            if back:
                log.info("the database answers again")


def _first_line(error: Exception) -> str:
    return (str(getattr(error, "orig", error)).strip().splitlines() or ["no answer"])[0]
