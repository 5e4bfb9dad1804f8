"""Runs erasures and retention in the background."""

import logging
import threading
import time

from sqlalchemy import Engine

from shared.settings import Settings
from worker.jobs.erasure import erase_one
from worker.jobs.retention import forget

log = logging.getLogger(__name__)

PERIOD = 10.0
"""Seconds between checks for due erasures."""
FORGET_PERIOD = 600.0


class PrivacyJobs:
    """The privacy thread of one worker process. It has its own engine."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._last_retention = 0.0

    def start(self, stop: threading.Event) -> None:
        """Check every ten seconds, in a background thread, until `stop` is set."""

        def run() -> None:
            while not stop.wait(PERIOD):
                try:
                    self.run_once()
                except Exception:
                    log.exception("erasure or retention failed and will be retried")

        threading.Thread(target=run, name="privacy", daemon=True).start()

    def run_once(self) -> None:
        """Run due erasures and, every ten minutes, retention."""
        while erase_one(self._engine) is not None:
            pass
        if not self._last_retention or time.monotonic() - self._last_retention > FORGET_PERIOD:
            self._last_retention = time.monotonic()
            forget(self._engine, self._settings.retention_days)
