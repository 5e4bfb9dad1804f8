"""Runs erasures and retention in the background."""

import threading
import time

from sqlalchemy import Engine

from shared.periodic import repeat
from shared.settings import Settings
from worker.jobs.erasure import erase_one
from worker.jobs.retention import forget

CHECK_SECONDS = 10.0
RETENTION_SECONDS = 600.0


class PrivacyJobs:
    """The privacy thread of one worker process. It has its own engine."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._last_retention = 0.0

    def start(self, stop: threading.Event) -> None:
        """Run what is due every CHECK_SECONDS, in a background thread, until `stop` is set."""
        repeat(self.run_once, CHECK_SECONDS, "privacy", stop)

    def run_once(self) -> None:
        """Run due erasures and, every ten minutes, retention, which waits for one erasure at most."""
        more = True
        while more:
            more = erase_one(self._engine) is not None
            self._forget_if_due()

    def _forget_if_due(self) -> None:
        if not self._last_retention or time.monotonic() - self._last_retention > RETENTION_SECONDS:
            self._last_retention = time.monotonic()
            forget(self._engine, self._settings.retention_days)
