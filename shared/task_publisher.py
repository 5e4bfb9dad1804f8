"""Publishes tasks for batches and group sends, many at a time, in its own thread.

Celery publishes one task at a time, which costs 0.5 ms of CPU time and a round trip. To Redis, many are pushed with one
command. The entries are the same: Celery creates the message, and kombu encodes it.
Sources: https://docs.celeryq.dev/en/stable/internals/protocol.html (version 2) and kombu.transport.virtual.

A slow or unavailable broker neither delays nor fails a caller: publishing is bounded in time and memory, and pauses
after a failure. Tasks that cannot be published are dropped; workers find their batches in the database a second later.
"""

import contextlib
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from celery import Celery
from kombu import Connection
from kombu.serialization import dumps

from shared.task_queue import QUEUE, SEND_BATCH

log = logging.getLogger(__name__)

PUBLISH_SECONDS = 0.3
"""Timeouts of connecting to the broker, and of one command."""
ROUND_SECONDS, BUSY_ROUND_SECONDS, BUSY = 0.05, 0.25, 5
"""Seconds between two rounds of publishing; more if there were more than BUSY calls since the last one, as busy workers
look for batches without a task."""
PAUSE_SECONDS = 5.0
"""Pause in seconds after a failure, or when the queue is full."""
MAX_WAITING = 10_000
"""Maximum of tasks that wait for the next round, about 2 MB. Beyond it the oldest are dropped."""
MAX_QUEUED = 5_000
"""Maximum length of the Redis queue: beyond it no worker is taking tasks. A task of one batch takes 1 KB, one of many
single sends up to 16 KB."""
MAX_PER_COMMAND = 200
SINGLES_PER_TASK = 256
"""Single sends that share a task, if more than BUSY of them come in one round: a task costs a worker more than a single
send."""

PERSISTENT = 2


class Task(NamedTuple):
    """A task to publish: the ids of its subjects. The first subject's id is also the task id."""

    subjects: tuple[UUID, ...]

    @property
    def id(self) -> str:
        """The task id, as shown by `celery inspect query_task`, events and Flower."""
        return str(self.subjects[0])

    @property
    def args(self) -> list[str]:
        """The task's positional arguments."""
        return [str(subject) for subject in self.subjects]


class TaskPublisher:
    """Publishes tasks shortly after it is called. Its methods return at once and do not raise if the broker fails.

    With an eager Celery application, tasks run in the caller's thread instead.
    """

    def __init__(self, celery: Celery, clock: Callable[[], float] = time.monotonic) -> None:
        self._celery = celery
        self._eager = bool(celery.conf.task_always_eager)
        self._clock = clock
        self._tasks: deque[Task] = deque(maxlen=MAX_WAITING)
        self._singles: deque[UUID] = deque(maxlen=MAX_WAITING)
        self._calls = 0
        """Calls since the last round."""
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._paused_until = float("-inf")

    def publish(self, subjects: Iterable[UUID]) -> None:
        """Publish a task for each of these batches, or group sends to expand, which must be committed."""
        self._add(Task((subject,)) for subject in subjects)

    def publish_single(self, batch: UUID) -> None:
        """Publish a task for the batch of a single send, shared with others if there are many."""
        if self._eager:
            self.publish([batch])
        elif not self.paused:
            self._singles.append(batch)
            self._start_round()

    @property
    def paused(self) -> bool:
        """Whether publishing pauses because the broker failed or its queue was full."""
        return self._clock() < self._paused_until

    def _add(self, tasks: Iterable[Task]) -> None:
        if self._eager:
            for task in tasks:
                self._celery.signature(SEND_BATCH, args=task.args).apply_async(task_id=task.id)
        elif not self.paused:
            self._tasks.extend(tasks)
            self._start_round()

    def _start_round(self) -> None:
        self._calls += 1
        if self._thread is None or not self._thread.is_alive():
            with self._lock:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._run, name="task-publisher", daemon=True)
                    self._thread.start()
        if not self._wake.is_set():
            self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            try:
                self._publish(self._take())
            except Exception as error:
                self._pause(error)
            calls, self._calls = self._calls, 0
            time.sleep(BUSY_ROUND_SECONDS if calls > BUSY else ROUND_SECONDS)

    def _take(self) -> list[Task]:
        """Take the tasks of this round."""
        tasks = [self._tasks.popleft() for _ in range(len(self._tasks))]
        singles = [self._singles.popleft() for _ in range(len(self._singles))]
        size = SINGLES_PER_TASK if len(singles) > BUSY else 1
        return tasks + [Task(tuple(singles[start : start + size])) for start in range(0, len(singles), size)]

    def _publish(self, tasks: list[Task]) -> None:
        if self._connection is None:
            bounds = {"socket_timeout": PUBLISH_SECONDS, "socket_connect_timeout": PUBLISH_SECONDS, "max_retries": 0}
            self._connection = self._celery.connection_for_write(transport_options=bounds)
        if self._connection.transport.driver_type != "redis":
            producer = self._celery.amqp.Producer(self._connection, auto_declare=False)
            for task in tasks:
                options = {"args": task.args, "task_id": task.id, "queue": QUEUE, "producer": producer}
                self._celery.send_task(SEND_BATCH, retry=False, **options)
            return
        for start in range(0, len(tasks), MAX_PER_COMMAND):
            chunk = tasks[start : start + MAX_PER_COMMAND]
            queued = push(self._celery, self._connection.default_channel, QUEUE, chunk)
            if queued > MAX_QUEUED:
                raise OverflowError(f"{queued} tasks are in the queue")

    def _pause(self, error: Exception) -> None:
        self._paused_until = self._clock() + PAUSE_SECONDS
        self._tasks.clear()
        self._singles.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.collect(PUBLISH_SECONDS)
        log.warning("no tasks are published for %.0f s, workers find their batches: %s", PAUSE_SECONDS, error)


def push(app: Celery, channel: Any, queue: str, tasks: Sequence[Task]) -> int:
    """Push the tasks to a Redis queue in order, with one command. Returns the length of the queue afterwards.

    `channel` is a kombu channel for Redis. Raises the Redis client's errors.
    """
    messages = [_encode(app, channel, queue, task) for task in tasks]
    with channel.conn_or_acquire() as client:
        return int(client.lpush(queue, *messages))


def _encode(app: Celery, channel: Any, queue: str, task: Task) -> str:
    """Encode a task as a queue entry."""
    task_message = app.amqp.create_task_message(task.id, SEND_BATCH, task.args, {}, ignore_result=True)
    content_type, content_encoding, body = dumps(task_message.body, app.conf.task_serializer)
    encoded, body_encoding = channel.encode_body(body, channel.body_encoding)
    properties = task_message.properties | {
        "delivery_mode": PERSISTENT,
        "delivery_info": {"exchange": "", "routing_key": queue},
        "delivery_tag": str(uuid4()),
        "body_encoding": body_encoding,
    }
    entry = channel.prepare_message(encoded, None, content_type, content_encoding, task_message.headers, properties)
    return json.dumps(entry)
