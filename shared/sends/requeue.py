"""Places batches in fair order that can be sent now: scheduled or paused until then, stopped, or without a carrier.

A batch that has never been queued, or has given its turn back, has the turn 0 and does not count against its account.
The others have their old turns. The clock has passed these turns, and with them the batches would precede all other
accounts until they end.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection, text

from shared.accounts.administration import activate_account
from shared.accounts.audit_log import Actor
from shared.db.connection import uuids
from shared.lifecycle import LANE_WEIGHTS
from shared.sends import fair_queueing as fair
from shared.sends.batch_prices import SEGMENTS
from shared.sends.batch_states import BATCH_SIZE
from shared.sends.sendable import MESSAGES_LEFT

HAS_SENT = """
    EXISTS (SELECT FROM message m
             WHERE m.id > b.id AND m.id <= CAST(overlay(CAST(b.id AS text) placing 'ffff' from 33) AS uuid)
               AND m.status <> 'canceled')
"""
"""SQL: batch `b` has results other than messages that were canceled one by one, which sent no part of it."""
COST = f"""
    SELECT id, account, lane, begun, turn, state, GREATEST(1, whole / weight) AS whole,
           GREATEST(1, LEAST(whole, (ARRAY{fair.FIRST_COSTS})[lane + 1]) / weight) AS first
      FROM (SELECT b.id, b.account_id AS account, b.lane, b.turn, b.state, a.weight,
                   b.attempts > 0 OR {MESSAGES_LEFT} < b.size AND {HAS_SENT} AS begun,
                   CAST({MESSAGES_LEFT} * {SEGMENTS} AS bigint)
                       * {fair.MICROSECONDS_PER_SEGMENT} / (ARRAY{list(LANE_WEIGHTS)})[b.lane + 1] AS whole
              FROM batch b JOIN send s ON s.id = b.send_id JOIN account a ON a.id = b.account_id
             WHERE {{which}}) AS b
"""
"""SQL: of each batch, whether a part was sent or tried, and the virtual time of what is left and of its first part."""
REQUEUE = f"""
    WITH cost AS ({COST}
    ), placeable AS (
        SELECT account, lane, begun, coalesce(min(turn) FILTER (WHERE turn > 0) < :clock, false) AS overtaken,
               max(turn + whole - first) FILTER (WHERE turn > 0) AS last
          FROM cost GROUP BY account, lane, begun HAVING bool_or(turn = 0) OR min(turn) < :clock
    ), owner AS MATERIALIZED (
        SELECT id, turns FROM account WHERE id IN (SELECT account FROM placeable)
         ORDER BY id FOR NO KEY UPDATE
    ), placed AS (
        SELECT c.id, c.account, c.lane,
               CASE WHEN c.begun OR p.overtaken AND a.turns[c.lane + 1] <= p.last THEN :clock
                    ELSE GREATEST(:clock, a.turns[c.lane + 1]) END
                   + sum(c.whole) OVER (PARTITION BY c.account, c.lane, c.begun ORDER BY c.turn, c.id) AS ends,
               c.whole - c.first AS rest
          FROM cost c JOIN placeable p USING (account, lane, begun) JOIN owner a ON a.id = c.account
         WHERE c.turn = 0 OR p.overtaken
    ), moved AS (
        UPDATE batch b SET turn = p.ends - p.rest FROM placed p WHERE b.id = p.id
    )
    UPDATE account a
       SET turns = {fair.RAISED_TURNS}
      FROM (SELECT account, {fair.LAST_ENDS} FROM placed GROUP BY account) t
     WHERE a.id = t.account
"""
REQUEUE_BATCHES, REQUEUE_SEND = (
    text(REQUEUE.format(which=f"{which} AND b.state = 'queued'"))
    for which in ("b.id = ANY(CAST(:ids AS uuid[]))", "b.send_id = :send")
)
"""Places queued batches as if they were accepted now, in the same order: from the clock on, or behind what the account
has accepted after them. A batch of which a part was sent, such as a retry, does not wait behind that.

Changes nothing unless the clock has passed them or they have no turn. The caller has locked the batches, and no
account."""

GIVE_BACK_TURNS = text(
    f"""
    WITH outside AS (
        SELECT * FROM ({COST.format(which="b.send_id = :send AND b.turn > 0")}) AS b
         WHERE NOT begun AND (state IN ('waiting', 'paused', 'canceled', 'expired') OR :all AND state <> 'sending')
    ), given_back AS (
        UPDATE account a SET turns[o.lane + 1] = o.begins
          FROM (SELECT account, lane, min(turn - first) AS begins, sum(whole) AS whole
                  FROM outside GROUP BY account, lane) o
         WHERE a.id = o.account AND a.turns[o.lane + 1] = o.begins + o.whole
        RETURNING a.id
    )
    UPDATE batch b SET turn = 0 FROM outside o JOIN given_back g ON g.id = o.account WHERE b.id = o.id
    """
)
"""Gives the turns of a send's unsent batches back to their account, provided they are its last ones. So the account's
turns are again what they would be without them. `all` includes those that are queued or held. The caller has locked the
batches and the send."""

CLEAR_TURNS = text("UPDATE batch SET turn = 0 WHERE send_id = :send")
"""All batches of a send are placed again."""

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
                   (SELECT min(turn) FROM batch WHERE send_id = :send AND state = 'queued' AND turn > 0) AS front) o
     WHERE o.clock - o.front > :most AND turn > 0
       AND id IN (SELECT id FROM batch WHERE send_id = :send AND state = 'queued' ORDER BY id FOR UPDATE SKIP LOCKED)
    """
)
"""Raises all queued batches of a send to the clock of what else competes. Its account continues where it was: the send
takes less than its share."""


def give_back_turns(connection: Connection, send: UUID) -> None:
    """Give back the turns of a send whose batches have left the queue, unless its account has queued others since."""
    connection.execute(GIVE_BACK_TURNS, {"send": send, "all": False})


def reset_turns(connection: Connection, send: UUID, *, costs_more: bool) -> None:
    """Have the batches of a send placed again, before their cost changes. None of it has been sent.

    If they will cost less and cannot give their turns back, they keep them. Those that are queued must be requeued in
    the same transaction.
    """
    connection.execute(GIVE_BACK_TURNS, {"send": send, "all": True})
    if costs_more:
        connection.execute(CLEAR_TURNS, {"send": send})


def requeue_batches(connection: Connection, batches: Iterable[UUID], clock: int) -> None:
    """Put batches that have been queued again in fair order. `clock` was read before they were."""
    connection.execute(REQUEUE_BATCHES, {"ids": uuids(batches), "clock": clock})


def requeue_send(connection: Connection, send: UUID, clock: int) -> None:
    """Put the queued batches of a send that goes on in fair order. `clock` was read before it did."""
    connection.execute(REQUEUE_SEND, {"send": send, "clock": clock})


def reactivate(connection: Connection, account: int, reason: str | None = None, *, by: Actor | None = None) -> None:
    """Activate a suspended or frozen account. What waits of a frozen one goes on at its place in fair order.

    Raises Refused if the account is closed.
    """
    clock = fair.clock(connection)
    batches = connection.execute(LOCK_FROZEN, {"account": account}).scalars().all()
    if batches:
        requeue_batches(connection, batches, clock)
    activate_account(connection, account, reason, by=by)


def raise_paced(connection: Connection, send: UUID, lane: int) -> None:
    """Raise the queued batches of a send with a rate of its own if they are more than a full batch behind the clock.

    With its old turns, a send that is slower than its share would precede others once its rate is raised.
    """
    connection.execute(RAISE_PACED, {"send": send, "most": fair.virtual_time(BATCH_SIZE, lane)})
