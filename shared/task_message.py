"""Publishes many tasks to a Redis queue with one command.

Celery publishes one task at a time, which costs 0.5 ms of CPU and a round trip. The entries written here are identical:
Celery creates the messages, and kombu encodes them.
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
    """A task to publish: its name, and the ids of its objects. The first one is also the task's id."""

    name: str
    subjects: tuple[UUID, ...]

    @property
    def id(self) -> str:
        """The id that `celery inspect query_task`, events and Flower show."""
        return str(self.subjects[0])

    @property
    def args(self) -> list[str]:
        """The task's arguments."""
        return [str(subject) for subject in self.subjects]


def push(app: Celery, channel: Any, queue: str, tasks: Sequence[Task]) -> int:
    """Append the tasks to the queue. Returns its new length.

    `channel` is kombu's channel for Redis. Raises its client's errors.
    """
    messages = [_encoded(app, channel, queue, task) for task in tasks]
    with channel.conn_or_acquire() as client:
        return int(client.lpush(queue, *messages))


def _encoded(app: Celery, channel: Any, queue: str, task: Task) -> str:
    """The queue entry of a task."""
    made = app.amqp.create_task_message(task.id, task.name, task.args, {}, ignore_result=True)
    content_type, content_encoding, body = dumps(made.body, app.conf.task_serializer)
    encoded, body_encoding = channel.encode_body(body, channel.body_encoding)
    properties = made.properties | {
        "delivery_mode": PERSISTENT,
        "delivery_info": {"exchange": "", "routing_key": queue},
        "delivery_tag": str(uuid4()),
        "body_encoding": body_encoding,
    }
    message = channel.prepare_message(encoded, None, content_type, content_encoding, made.headers, properties)
    return json.dumps(message)
