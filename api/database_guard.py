"""The API's part in recognising a database that lost commits: each process knows what it has accepted."""

import logging
import threading
import time

from shared.db.connection import AWAY
from shared.guard import Guard

log = logging.getLogger(__name__)

PERIOD = 1.0


def keep_looking(guard: Guard) -> None:
    """Look each second, in a thread of its own, until the process ends."""

    def run() -> None:
        while True:
            time.sleep(PERIOD)
            try:
                guard.check()
            except AWAY:
                pass  # requests say so
            except Exception:
                log.exception("it could not be seen whether the database lost commits")

    threading.Thread(target=run, name="guard", daemon=True).start()
