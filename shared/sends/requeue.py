"""Places batches in fair order again that could not be sent for a while: scheduled, stopped, or without a carrier.

Their turns are from when they were accepted, and the queue's clock has passed them. With these turns they would precede
all other accounts until they end.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection, text

from shared.db.connection import uuids
from shared.lifecycle import LANE_WEIGHTS
from shared.sends import fair_queueing as fair
from shared.sends.batch_size import BATCH_SIZE
from shared.sends.placeholder_batches import SEGMENTS

REQUEUE = f"""
    WITH waiting AS (
        SELECT b.id, b.account_id AS account, b.lane, b.epoch > 0 AS begun, b.turn, a.weight,
               CAST((b.size - b.next_index + 1 + coalesce(cardinality(b.retry), 0)) * {SEGMENTS} AS bigint)
                   * {fair.MICROSECONDS_PER_SEGMENT} / (ARRAY{list(LANE_WEIGHTS)})[b.lane + 1] AS whole
          FROM batch b JOIN send s ON s.id = b.send_id JOIN account a ON a.id = b.account_id
         WHERE {{which}} AND b.state = 'queued'
    ), cost AS (
        SELECT id, account, lane, begun, turn, GREATEST(1, whole / weight) AS whole,
               GREATEST(1, LEAST(whole, (ARRAY{fair.FIRST_COSTS})[lane + 1]) / weight) AS first
          FROM waiting
    ), overtaken AS (
        SELECT account, lane, begun, max(turn + whole - first) AS last FROM cost GROUP BY account, lane, begun
        HAVING min(turn) < :clock
    ), owner AS MATERIALIZED (
        SELECT id, turns FROM account WHERE id IN (SELECT account FROM overtaken)
         ORDER BY id FOR NO KEY UPDATE
    ), placed AS (
        SELECT c.id, c.account, c.lane,
               CASE WHEN c.begun OR a.turns[c.lane + 1] <= o.last THEN :clock
                    ELSE GREATEST(:clock, a.turns[c.lane + 1]) END
                   + sum(c.whole) OVER (PARTITION BY c.account, c.lane, c.begun ORDER BY c.turn, c.id) AS ends,
               c.whole - c.first AS rest
          FROM cost c JOIN overtaken o USING (account, lane, begun) JOIN owner a ON a.id = c.account
    ), moved AS (
        UPDATE batch b SET turn = p.ends - p.rest FROM placed p WHERE b.id = p.id
    )
    UPDATE account a
       SET turns = ARRAY[GREATEST(a.turns[1], t.first), GREATEST(a.turns[2], t.second), GREATEST(a.turns[3], t.third)]
      FROM (SELECT account, max(ends) FILTER (WHERE lane = 0) AS first, max(ends) FILTER (WHERE lane = 1) AS second,
                   max(ends) FILTER (WHERE lane = 2) AS third
              FROM placed GROUP BY account) t
     WHERE a.id = t.account
"""
REQUEUE_BATCHES, REQUEUE_SEND = (
    text(REQUEUE.format(which=which)) for which in ("b.id = ANY(CAST(:ids AS uuid[]))", "b.send_id = :send")
)
"""Places queued batches as if they were accepted now, in the same order: from the clock on, or behind what the account
has accepted after them. A batch of which a part was sent, such as a retry, does not wait behind that.

Changes nothing unless the clock has passed them. The caller has locked the batches, and no account."""

LOCK_FROZEN = text(
    """
    SELECT b.id FROM batch b
     WHERE b.state = 'queued' AND b.account_id IN (SELECT id FROM account
                                                    WHERE (id = :account OR sandbox_of = :account) AND state = 'frozen')
     ORDER BY b.id FOR UPDATE OF b
    """
)
"""Locks what waits of a frozen account and its sandbox, in the order in which others lock batches."""

RAISE_PACED = text(
    f"""
    UPDATE batch SET turn = turn + o.clock - o.front
      FROM (SELECT {fair.MIN_TURN.format(which="AND b.send_id <> :send")} AS clock,
                   (SELECT min(turn) FROM batch WHERE send_id = :send AND state = 'queued') AS front) o
     WHERE o.clock - o.front > :most
       AND id IN (SELECT id FROM batch WHERE send_id = :send AND state = 'queued' ORDER BY id FOR UPDATE SKIP LOCKED)
    """
)
"""Raises all queued batches of a send to the clock of what else competes. Its account continues where it was: the send
takes less than its share."""


def requeue_batches(connection: Connection, batches: Iterable[UUID], clock: int) -> None:
    """Put batches that have been queued again in fair order. `clock` was read before they were."""
    connection.execute(REQUEUE_BATCHES, {"ids": uuids(batches), "clock": clock})


def requeue_send(connection: Connection, send: UUID, clock: int) -> None:
    """Put the queued batches of a send that goes on in fair order. `clock` was read before it did."""
    connection.execute(REQUEUE_SEND, {"send": send, "clock": clock})


def requeue_frozen(connection: Connection, account: int) -> None:
    """Put the queued batches of an account and its sandbox, if they are frozen, in fair order again."""
    clock = fair.clock(connection)
    batches = connection.execute(LOCK_FROZEN, {"account": account}).scalars().all()
    if batches:
        requeue_batches(connection, batches, clock)


def raise_paced(connection: Connection, send: UUID, lane: int) -> None:
    """Raise the queued batches of a send with a rate of its own if they are more than a full batch behind the clock.

    With its old turns, a send that is slower than its share would precede others once its rate is raised.
    """
    connection.execute(RAISE_PACED, {"send": send, "most": fair.virtual_time(BATCH_SIZE, lane)})
