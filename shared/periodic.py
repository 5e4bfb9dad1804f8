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
) -> threading.Thread:
    """Call `job` every `seconds` until `stop` is set: for the first time after that long, or `at_once`.

    An exception is logged under the thread's `name`, and the job is called again as usual.
    """
    return _start(lambda stopped: _call(job, seconds, name, stopped, at_once), name, stop)


def repeat_with_redis(
    job: Callable[[], object], seconds: float, name: str, outage: str, stop: threading.Event | None = None
) -> threading.Thread:
    """Like `repeat`, for a job that needs Redis.

    An outage is logged once, as `outage` and the error; until it ends the job is called less often.
    """
    return _start(lambda stopped: _call_with_redis(job, seconds, name, outage, stopped), name, stop)


def _start(run: Callable[[threading.Event], None], name: str, stop: threading.Event | None) -> threading.Thread:
    thread = threading.Thread(target=run, args=(stop or threading.Event(),), name=name, daemon=True)
    thread.start()
    return thread


def _call(job: Callable[[], object], seconds: float, name: str, stop: threading.Event, at_once: bool) -> None:
    first = at_once
    while not stop.wait(0 if first else seconds):
        first = False
        try:
            job()
        except Exception:
            log.exception("%s failed and will be called again in %g s", name, seconds)


def _call_with_redis(job: Callable[[], object], seconds: float, name: str, outage: str, stop: threading.Event) -> None:
    away = False
    while not stop.wait(REDIS_RETRY_SECONDS if away else seconds):
        try:
            job()
        except RedisError as error:
            if not away:
                log.warning("%s: %s", outage, error)
            away = True
            CONNECTION_FAILURES.labels("redis").inc()
        except Exception:
            log.exception("%s failed and will be called again in %g s", name, seconds)
        else:
            away = False
