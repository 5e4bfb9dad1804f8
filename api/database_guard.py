"""Detect a database that has lost commits, by comparing it with the sends that this process has accepted."""

import logging
import threading
import time

from shared.db.connection import AWAY
from shared.guard import Guard

log = logging.getLogger(__name__)

PERIOD = 1.0


def keep_looking(guard: Guard) -> None:
    """Check every second in a daemon thread."""

    def run() -> None:
        while True:
            time.sleep(PERIOD)
            try:
                guard.check()
            except AWAY:
                pass  # requests report an unavailable database
            except Exception:
                log.exception("could not check whether the database has lost commits")

    threading.Thread(target=run, name="guard", daemon=True).start()
