"""The worker as Celery starts it: `celery -A worker.app worker --pool threads -Q sends`."""

from typing import Any

from celery.signals import setup_logging, worker_init, worker_ready, worker_shutdown, worker_shutting_down

from shared.logs import configure_logging
from shared.queue import make_celery
from shared.settings import from_environment
from worker.process import WorkerProcess
from worker.tasks import register

settings = from_environment()
app = make_celery(settings)
process = WorkerProcess(settings)
register(app, process.sweeper.work)


@setup_logging.connect
def log_as_json(**_: Any) -> None:
    """Celery leaves the logs to us."""
    configure_logging()


@worker_init.connect
def check_schema(**_: Any) -> None:
    """Refuse to run on a database that this code was not written for."""
    from shared.migrate import wait_for_schema

    wait_for_schema(process.engine)


@worker_ready.connect
def start(**_: Any) -> None:
    """Open the carriers once the consumer is up."""
    process.start()


@worker_shutting_down.connect
def stop_claiming(**_: Any) -> None:
    """Celery waits for the tasks that run; they end after the window under way."""
    process.turns.stop.set()


@worker_shutdown.connect
def stop(**_: Any) -> None:
    """Close the carriers."""
    process.stop()
