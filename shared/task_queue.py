"""The Celery application that API and workers share, and the doorbell that wakes a worker.

The queue carries doorbells only: a task names a batch, and losing, repeating or delaying it changes no outcome. So
nothing here may block or fail a caller: publishing happens in a thread of its own, is bounded in time, and rests for
a while after a failure (workers look at the database each second anyway).
"""

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from uuid import UUID

from celery import Celery
from kombu import Connection

from shared.settings import Settings

log = logging.getLogger(__name__)

QUEUE = "sends"
SEND_BATCH = "worker.send_batch"
IMPORT_CONTACTS = "worker.import_contacts"
AT_ONCE = 32
"""Doorbells that wait to be published. A turn goes on to the next batch by itself, so more would find nothing to do."""
PUBLISH_SECONDS = 0.3
"""How long the broker may take to connect, and to take a doorbell."""
TOGETHER_SECONDS, BUSY_SECONDS, BUSY = 0.05, 0.25, 5
"""Between two rounds of publishing, and when more than BUSY callers rang since the last one. A task costs a worker some
milliseconds, one turn takes all that waits, and a worker that finds something looks again without being woken."""
REST_SECONDS = 5.0
"""After a failure nothing is published for as long."""


def make_celery(settings: Settings) -> Celery:
    """The Celery application: JSON only, no result backend, no prefetch, early acknowledgement, short time-outs."""
    app = Celery("bulksms", broker=settings.broker_url)
    app.conf.update(
        task_default_queue=QUEUE,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_acks_late=False,
        task_always_eager=settings.eager,
        task_eager_propagates=True,
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "socket_timeout": 30,
            "socket_connect_timeout": 2,
            "socket_keepalive": True,
            "health_check_interval": 25,
            "visibility_timeout": 3600,
        },
        enable_utc=True,
        timezone="UTC",
    )
    return app


class Doorbell:
    """Rings for batches and imports: one task each, published by a background thread soon after `ring` returned.

    A circuit breaker: when the broker fails or takes longer than PUBLISH_SECONDS, the doorbells at hand are dropped,
    and so are those of the next REST_SECONDS. With an eager application the task runs in the caller's thread instead.
    """

    def __init__(self, celery: Celery, clock: Callable[[], float] = time.monotonic) -> None:
        self._celery = celery
        self._eager = bool(celery.conf.task_always_eager)
        self._clock = clock
        self._waiting: deque[tuple[str, UUID]] = deque(maxlen=AT_ONCE)
        self._rung = 0
        """Callers since the last round."""
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._rests_until = float("-inf")

    def ring(self, batches: list[UUID]) -> None:
        """Ask for a turn for each of the batches. Returns at once, and never raises for a broker that is away."""
        if self._eager:
            for batch in batches:
                self._celery.signature(SEND_BATCH, args=[str(batch)]).apply_async()
            return
        self._rung += 1
        if self.resting or (len(batches) == 1 and self._waiting):
            return  # what waits to be published wakes a worker that will see this batch too
        self._waiting.extend((SEND_BATCH, batch) for batch in batches)
        self._start()
        self._wake.set()

    def ring_for_import(self, import_id: UUID) -> None:
        """Tell a worker of an import. Returns at once; without the broker it is begun a second later."""
        if self._eager:
            self._celery.signature(IMPORT_CONTACTS, args=[str(import_id)]).apply_async()
        elif not self.resting:
            self._waiting.append((IMPORT_CONTACTS, import_id))
            self._start()
            self._wake.set()

    @property
    def resting(self) -> bool:
        """Whether the breaker is open: the broker failed a moment ago, and is left alone."""
        return self._clock() < self._rests_until

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            with self._lock:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._run, name="doorbell", daemon=True)
                    self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            try:
                for _ in range(len(self._waiting)):  # who rings meanwhile is in the next round
                    self._publish(*self._waiting.popleft())
            except Exception as error:
                self._rests_until = self._clock() + REST_SECONDS
                self._waiting.clear()
                self._disconnect()
                log.warning("the broker accepts no doorbells; workers look for work by themselves: %s", error)
            rung, self._rung = self._rung, 0
            time.sleep(BUSY_SECONDS if rung > BUSY else TOGETHER_SECONDS)

    def _publish(self, task: str, subject: UUID) -> None:
        if self._connection is None:
            bounds = {"socket_timeout": PUBLISH_SECONDS, "socket_connect_timeout": PUBLISH_SECONDS, "max_retries": 0}
            self._connection = self._celery.connection_for_write(transport_options=bounds)
        producer = self._celery.amqp.Producer(self._connection, auto_declare=False)
        self._celery.send_task(task, args=[str(subject)], queue=QUEUE, producer=producer, retry=False)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.collect(PUBLISH_SECONDS)
