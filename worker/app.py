"""The worker as Celery starts it: `celery -A worker.app worker --pool threads -Q sends`."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery.signals import setup_logging, worker_init, worker_shutdown, worker_shutting_down
from redis import Redis

from shared.guard import Guard
from shared.logs import configure_logging
from shared.queue import Doorbell, make_celery
from shared.schema import WrongSchema, wait_for_schema
from shared.settings import SIMULATED, SettingsError, service_settings
from shared.text_keys import WrongTextKeys, check_text_keys
from worker.ears import Ears
from worker.guarding import keep_looking
from worker.process import WorkerProcess
from worker.tasks import register
from worker.waking import Alarm, step_with

log = logging.getLogger(__name__)

try:
    settings = service_settings()
    app = make_celery(settings)
    process = WorkerProcess(settings)
except SettingsError as problem:
    raise SystemExit(str(problem)) from None
redis_broker = settings.broker_url.startswith("redis")
guard = Guard(
    process.engine,
    Redis.from_url(settings.redis_url, socket_timeout=0.3, socket_connect_timeout=0.3),
    Path(settings.guard_file) if settings.guard_file else None,
)
if not settings.eager:  # whoever rings would do the work
    process.sweeper.ring = Doorbell(app).ring
alarm = Alarm()
app.steps["consumer"].add(step_with(alarm))
ears = Ears(Redis.from_url(settings.broker_url, socket_timeout=1, socket_connect_timeout=1) if redis_broker else None)


@contextmanager
def heard() -> Generator[None]:
    """Around the work for one doorbell."""
    try:
        with ears.hearing(), process.sweeper.outage.tolerated():
            yield
    finally:
        alarm.ring()


register(app, process.sweeper.work, heard, process.importer.wake)


@setup_logging.connect
def log_as_json(**_: Any) -> None:
    """Celery leaves the logs to us."""
    configure_logging()


@worker_init.connect
def start(**_: Any) -> None:
    """Begin to work, on a database that this code was written for, and with the keys of its texts.

    Before the consumer is up, because that waits for the broker, and messages are sent without it too. Celery logs
    what a signal's receiver raises and goes on, so only SystemExit ends the worker here.
    """
    if settings.simulated:
        log.warning(SIMULATED)
    try:
        wait_for_schema(process.engine)
        check_text_keys(process.engine)
    except (WrongSchema, WrongTextKeys) as problem:
        log.error("%s", problem)
        raise SystemExit(1) from problem
    keep_looking(guard, process.sweeper.outage, process.turns.stop)
    process.start()
    ears.start(process.turns.stop)


@worker_shutting_down.connect
def stop_claiming(**_: Any) -> None:
    """Celery waits for the tasks that run; they end after the window under way."""
    process.turns.stop.set()


@worker_shutdown.connect
def stop(**_: Any) -> None:
    """Close the carriers."""
    process.stop()
