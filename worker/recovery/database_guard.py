"""A worker's part in recognising a database that went back in time: it looks before it sends, and each second."""

import logging
import threading

from shared.guard import Guard
from worker.outages import Outage

log = logging.getLogger(__name__)

PERIOD = 1.0


def keep_checking(guard: Guard, outage: Outage, stop: threading.Event) -> None:
    """Look once, then each second in a thread of its own until `stop` is set."""

    def check() -> None:
        try:
            with outage.tolerated():
                guard.check()
        except Exception:
            log.exception("it could not be seen whether the database went back in time")

    def run() -> None:
        while not stop.wait(PERIOD):
            check()

    check()
    threading.Thread(target=run, name="guard", daemon=True).start()
