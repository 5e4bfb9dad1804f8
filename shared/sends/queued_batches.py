"""Publishes tasks for batches that have become ready: their send was resumed or is due, or they are sent again."""

from collections.abc import Collection, Iterable
from uuid import UUID

from sqlalchemy import Engine, text

from shared.db.connection import reading
from shared.task_publisher import MAX_QUEUED, TaskPublisher

QUEUED = text(
    """
    (SELECT id, size FROM batch WHERE send_id = ANY(:sends) AND state = 'queued' ORDER BY turn LIMIT :limit)
    UNION ALL
    SELECT id, NULL FROM send WHERE id = ANY(:sends) AND state = 'expanding' AND expanded_to IS NOT NULL
    """
)


def publish_queued(engine: Engine, tasks: TaskPublisher, sends: Collection[UUID]) -> None:
    """Publish tasks for the sends' queued batches, and for the expansion of group sends."""
    if not sends or tasks.paused:
        return
    with reading(engine) as connection:
        rows = connection.execute(QUEUED, {"sends": list(sends), "limit": MAX_QUEUED}).all()
    for send, size in rows:
        if size is None:
            tasks.publish_expansion(send)
    publish_batches(tasks, ((batch, size) for batch, size in rows if size is not None))


def publish_batches(tasks: TaskPublisher, batches: Iterable[tuple[UUID, int]]) -> None:
    """Publish tasks for batches, given as (id, number of recipients). Batches of one recipient may share a task."""
    several = []
    for batch, size in batches:
        if size == 1:
            tasks.publish_single(batch)
        else:
            several.append(batch)
    if several:
        tasks.publish(several)
