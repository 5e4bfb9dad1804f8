"""The Celery application that API and workers share: the queue, its task, and how the broker is used.

A batch has a task of its own, whose id is the batch's, except single sends that share one. A task only says that there
is work: losing, repeating, delaying or reordering tasks changes no result.
"""

import socket

from celery import Celery

from shared.redis_client import celery_broker
from shared.settings import Settings

QUEUE = "sends"
SEND_BATCH = "worker.send_batch"
"""Its arguments are ids: of a batch, of the batches of several single sends, or of a group send that has no batches
yet."""
PREFETCHED = 100
"""Tasks that a worker takes ahead for each of its threads. It fetches no more beyond them until the next second or two,
and then its sweep finds their batches."""
KEEPALIVE = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}
"""A connection that has died silently is noticed after 25 seconds."""


def make_celery(settings: Settings) -> Celery:
    """The Celery application: JSON only, no result backend, early acknowledgement, short time-outs."""
    broker, transport_options = celery_broker(settings.broker_url)
    app = Celery("bulksms", broker=broker)
    app.conf.update(
        # The command `celery` would put BROKER_URL as it is in place of `broker_url`, but not of these.
        broker_read_url=broker,
        broker_write_url=broker,
        task_default_queue=QUEUE,
        task_default_queue_type=settings.broker_queue_type,
        broker_native_delayed_delivery_queue_type="classic",  # of queues for tasks with an ETA, which there are none of
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_acks_late=False,
        task_always_eager=settings.eager,
        task_eager_propagates=True,
        task_publish_retry=False,
        worker_prefetch_multiplier=PREFETCHED,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "socket_timeout": 30,
            "socket_connect_timeout": 2,
            "socket_keepalive": True,
            "socket_keepalive_options": KEEPALIVE,
            "health_check_interval": 25,
            "visibility_timeout": 3600,
            **transport_options,
        },
        enable_utc=True,
        timezone="UTC",
    )
    return app
