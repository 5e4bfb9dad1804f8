"""Keeps what is promised of persons' data, in the background: erasures, and forgetting after some days."""

import logging
import threading
import time

from sqlalchemy import Engine

from shared.settings import Settings
from worker.jobs.erasure import erase_one
from worker.jobs.retention import forget

log = logging.getLogger(__name__)

PERIOD = 10.0
"""Seconds between looks for erasures that are due."""
FORGET_PERIOD = 600.0


class PrivacyJobs:
    """The thread of one worker process that erases and forgets. Its engine is not the turns'."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._forgot = 0.0

    def start(self, stop: threading.Event) -> None:
        """Begin to look each ten seconds, until `stop` is set."""

        def run() -> None:
            while not stop.wait(PERIOD):
                try:
                    self.run_once()
                except Exception:
                    log.exception("erasing or forgetting failed and is tried again")

        threading.Thread(target=run, name="privacy", daemon=True).start()

    def run_once(self) -> None:
        """Erase what is due, and every ten minutes forget what was kept for long enough."""
        while erase_one(self._engine) is not None:
            pass
        if not self._forgot or time.monotonic() - self._forgot > FORGET_PERIOD:
            self._forgot = time.monotonic()
            forget(self._engine, self._settings.retention_days)
