"""Runs the guard that detects a rolled-back database: before a worker sends, and every second."""

import logging
import threading

from shared.guard import Guard
from worker.outages import Outage

log = logging.getLogger(__name__)

PERIOD = 1.0


def keep_checking(guard: Guard, outage: Outage, stop: threading.Event) -> None:
    """Check once, then every second in a background thread, until `stop` is set."""

    def check() -> None:
        try:
            with outage.tolerated():
                guard.check()
        except Exception:
            log.exception("could not check whether the database was rolled back; will be retried")

    def run() -> None:
        while not stop.wait(PERIOD):
            check()

    check()
    threading.Thread(target=run, name="guard", daemon=True).start()
