"""Daemon threads that repeat a job every few seconds until they are told to stop."""

import logging
import threading
from collections.abc import Callable

from redis.exceptions import RedisError

from shared.observability.metrics import CONNECTION_FAILURES

log = logging.getLogger(__name__)

REDIS_RETRY_SECONDS = 5.0
"""Seconds between attempts while Redis is unavailable."""


def repeat(
    job: Callable[[], object],
    seconds: float,
    name: str,
    stop: threading.Event | None = None,
    *,
    at_once: bool = False,
    outage: str = "Redis is unavailable",
) -> threading.Thread:
    """Call `job` every `seconds` until `stop` is set: for the first time after that long, or `at_once`.

    An exception is logged under the thread's `name`, and the job is called again as usual. An outage of Redis is logged
    once, as `outage` and the error; until it ends the job is called less often.
    """

    def run() -> None:
        wait, is_away = 0.0 if at_once else seconds, False
        while not stopped.wait(wait):
            wait, was_away, is_away = seconds, is_away, False
            try:
                job()
            except RedisError as error:
                if not was_away:
                    log.warning("%s: %s", outage, error)
                wait, is_away = REDIS_RETRY_SECONDS, True
                CONNECTION_FAILURES.labels("redis").inc()
            except Exception:
                log.exception("%s failed and will be called again in %g s", name, seconds)

    stopped = stop or threading.Event()
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def do_all(job: Callable[[], object], stop: threading.Event) -> None:
    """Call `job` until it has nothing to do, and returns nothing, or `stop` is set."""
    while not stop.is_set() and job():
        pass
