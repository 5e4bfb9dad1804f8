"""Runs the guard that detects a rolled-back database: before a worker sends, and every second."""

import logging
import threading

from shared.guard import CHECK_SECONDS, Guard
from shared.periodic import repeat
from worker.outages import Outage

log = logging.getLogger(__name__)


def keep_checking(guard: Guard, outage: Outage, stop: threading.Event) -> None:
    """Check once, then every second in a background thread, until `stop` is set."""

    def check() -> None:
        with outage.tolerated():
            guard.check()

    try:
        check()
    except Exception:
        log.exception("could not check whether the database was rolled back; will be retried")
    repeat(check, CHECK_SECONDS, "guard", stop)
