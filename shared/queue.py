"""The Celery application that API and workers share, and the doorbell that wakes a worker.

The queue carries doorbells only: a task names a batch, and losing, repeating or delaying it changes no outcome. So
nothing here may block or fail a caller: publishing happens in a thread of its own, is bounded in time, and stops for
a while after a failure (workers look at the database each second anyway).
"""

import logging
import threading
import time
from collections import deque
from uuid import UUID

from celery import Celery

from shared.settings import Settings

log = logging.getLogger(__name__)

QUEUE = "sends"
SEND_BATCH = "worker.send_batch"
AT_ONCE = 100
"""Doorbells published in one go. A turn goes on to the next batch by itself, so more would find nothing to do."""
REST_AFTER_FAILURE = 5.0


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
    """Rings for batches: one task each, published by a background thread soon after `ring` returned.

    With an eager application the task runs in the caller's thread instead.
    """

    def __init__(self, celery: Celery) -> None:
        self._celery = celery
        self._waiting: deque[UUID] = deque()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def ring(self, batches: list[UUID]) -> None:
        """Ask for a turn for each of the batches. Never raises for a broker that is away."""
        if self._celery.conf.task_always_eager:
            for batch in batches:
                self._publish(batch)
            return
        self._waiting.extend(batches)
        self._start()
        self._wake.set()

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
            batches = [self._waiting.popleft() for _ in range(len(self._waiting))]
            try:
                for batch in batches[:AT_ONCE]:
                    self._publish(batch)
            except Exception as error:
                log.warning("doorbell not rung, workers will look by themselves: %s", error)
                time.sleep(REST_AFTER_FAILURE)

    def _publish(self, batch: UUID) -> None:
        self._celery.signature(SEND_BATCH, args=[str(batch)]).apply_async(queue=QUEUE, retry=False)
