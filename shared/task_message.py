"""Pushes many tasks to a Redis queue with one command.

Celery publishes one task at a time, which costs 0.5 ms of CPU time and a round trip. The entries written here are the
same: Celery creates the message, and kombu encodes it.
Sources: https://docs.celeryq.dev/en/stable/internals/protocol.html (version 2) and kombu.transport.virtual.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from celery import Celery
from kombu.serialization import dumps

PERSISTENT = 2


class Task(NamedTuple):
    """A task to publish: its name and the ids of its subjects. The first subject's id is also the task id."""

    name: str
    subjects: tuple[UUID, ...]

    @property
    def id(self) -> str:
        """The task id, as shown by `celery inspect query_task`, events and Flower."""
        return str(self.subjects[0])

    @property
    def args(self) -> list[str]:
        """The task's positional arguments."""
        return [str(subject) for subject in self.subjects]


def push(app: Celery, channel: Any, queue: str, tasks: Sequence[Task]) -> int:
    """Push the tasks to the queue in order. Returns the length of the queue afterwards.

    `channel` is a kombu channel for Redis. Raises the Redis client's errors.
    """
    messages = [_encode(app, channel, queue, task) for task in tasks]
    with channel.conn_or_acquire() as client:
        return int(client.lpush(queue, *messages))


def _encode(app: Celery, channel: Any, queue: str, task: Task) -> str:
    """Encode a task as a queue entry."""
    task_message = app.amqp.create_task_message(task.id, task.name, task.args, {}, ignore_result=True)
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
