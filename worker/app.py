"""The worker as Celery starts it: `celery -A worker.app worker --pool threads -Q sends`."""

import logging
from typing import Any

from celery.bootsteps import StartStopStep
from celery.concurrency import get_implementation
from celery.signals import celeryd_init, setup_logging, worker_init, worker_shutdown, worker_shutting_down

from shared.db.encryption_keys import WrongTextKeys
from shared.db.schema import WrongSchema
from shared.guard import Guard
from shared.observability.logs import configure_logging
from shared.observability.metrics_server import serve_metrics
from shared.observability.traces import start_traces, stop_traces
from shared.redis_client import redis_client
from shared.settings import SIMULATED, SettingsError, service_settings
from shared.startup import wait_for_database
from shared.task_publisher import TaskPublisher
from shared.task_queue import make_celery
from worker.process import WorkerProcess
from worker.recovery.database_guard import keep_checking
from worker.tasks import Coalescer, register

log = logging.getLogger(__name__)


SAFE_POOLS = ("celery.concurrency.thread", "celery.concurrency.solo")
"""Pools that run tasks in this process. Child processes would share its database and carrier sockets."""

try:
    settings = service_settings()
    app = make_celery(settings)
    process = WorkerProcess(settings)
except SettingsError as problem:
    raise SystemExit(str(problem)) from None
app.events_cls = "worker.broker.events:ThreadSafeEvents"
app.conf.worker_pool = "threads"  # also if the command line names prefork, Celery's default
app.conf.worker_concurrency = settings.concurrency
app.conf.worker_consumer = "worker.broker.consumer:PersistentConsumer"
app.conf.worker_enable_remote_control = settings.remote_control
guard = Guard(
    process.engine,
    redis_client(settings.redis_url, timeout=0.3),
    settings.guard_file,
    process.witness,
    process.sweeper.worker,
)
if not settings.eager:  # with eager tasks, publishing would do the work itself
    process.sweeper.work.tasks = TaskPublisher(app)
sending = Coalescer(process.sweeper.run_cycles, process.dispatcher.stop)
register(app, sending.run)


@celeryd_init.connect
@setup_logging.connect
def log_as_json(**_: Any) -> None:
    """Configure logging in place of Celery and before it starts, so that its first warnings, and a worker waiting for
    its database, are logged too.
    """
    configure_logging()


@worker_init.connect
def start(sender: Any, **_: Any) -> None:
    """Check the settings of traces, GUARD_FILE, the schema and the text keys, and start the worker process.

    Runs before the consumer is up, because the consumer waits for the broker and messages are sent without it too.
    Celery only logs exceptions of a signal's receivers, so SystemExit is needed to end the worker here.
    """
    if settings.simulated:
        log.warning(SIMULATED)

    if get_implementation(sender.pool_cls).__module__ not in SAFE_POOLS:
        log.error("the worker supports only Celery's threads and solo pools; start it with --pool threads")
        raise SystemExit(1)
    try:
        start_traces("worker")
        guard.notes.require_writable()
        wait_for_database(process.engine)
        keep_checking(guard, process.sweeper.outage, process.dispatcher.stop)
        process.start()
        serve_metrics(settings)
    except (SettingsError, WrongSchema, WrongTextKeys) as problem:
        log.error("%s", problem)
        raise SystemExit(1) from problem
    except Exception as error:  # a worker that stays up without having started would silently send nothing
        log.exception("the worker could not be started")
        raise SystemExit(1) from error


@worker_shutting_down.connect
def stop_claiming(**_: Any) -> None:
    """Claim nothing more. Celery waits for running tasks, which end after the current window."""
    process.dispatcher.stop.set()


class StopClaiming(StartStopStep):  # type: ignore[misc]
    """Does the same if remote control shuts the worker down, without a signal: before the pool waits for its tasks."""

    requires = ("celery.worker.components:Pool",)

    def stop(self, _: object) -> None:
        """Called by Celery when the worker stops."""
        stop_claiming()


app.steps["worker"].add(StopClaiming)


@worker_shutdown.connect
def stop(**_: Any) -> None:
    """Stop the worker process, and close the carriers."""
    process.stop()
    stop_traces()
