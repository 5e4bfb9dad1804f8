"""Publishes tasks for batches that have become ready: their send was resumed or is due, or they are sent again."""

from collections.abc import Collection, Iterable
from uuid import UUID

from sqlalchemy import Engine, null, select, union_all

from shared.db.connection import reading
from shared.db.expressions import in_constants, in_parameter
from shared.db.tables import sends as tables
from shared.lifecycle import BatchState, SendState
from shared.task_publisher import MAX_QUEUED, TaskPublisher

BATCHES, SENDS = tables.batch.c, tables.send.c
QUEUED = union_all(
    select(BATCHES.id, BATCHES.size)
    .where(in_parameter(BATCHES.send_id, "sends"), in_constants(BATCHES.state, BatchState.QUEUED))
    .order_by(BATCHES.turn)
    .limit(MAX_QUEUED),
    select(SENDS.id, null()).where(
        in_parameter(SENDS.id, "sends"),
        in_constants(SENDS.state, SendState.EXPANDING),
        SENDS.expanded_to.is_not(None),
    ),
)


def publish_queued(engine: Engine, tasks: TaskPublisher, sends: Collection[UUID]) -> None:
    """Publish tasks for the sends' queued batches, and for the expansion of group sends."""
    if not sends or tasks.paused:
        return
    with reading(engine) as connection:
        rows = connection.execute(QUEUED, {"sends": list(sends)}).all()
    publish_batches(tasks, rows)


def publish_batches(tasks: TaskPublisher, batches: Iterable[tuple[UUID, int | None]]) -> None:
    """Publish tasks for batches, given as (id, number of recipients), and for group sends, given as (id, None). Batches
    of one recipient may share a task."""
    several = []
    for batch, size in batches:
        if size == 1:
            tasks.publish_single(batch)
        else:
            several.append(batch)
    if several:
        tasks.publish(several)
