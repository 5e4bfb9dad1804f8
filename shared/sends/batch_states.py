"""Every change of a batch's state, as SQL. No other module sets `batch.state`.

    waiting   its time has not come, or all carriers that may take it are unavailable
    queued    may be claimed, in fair order
    sending   in a worker's cycle, under a lease
    paused    its send is paused by its owner
    held      its send is held (shared/sends/holding.py)
    done, canceled, expired    has ended; `due_at` says when

Batches are locked before their sends, in the order of their ids. Those that are queued again get a new place in fair
order (shared/sends/requeue.py).
"""

from sqlalchemy import text

from shared.db.connection import STARTED
from shared.lifecycle import BatchState
from shared.sends.sendable import MESSAGES_LEFT

BATCH_SIZE = 1000
"""Maximum number of recipients of a batch."""
NOT_TAKEN_STATES = (BatchState.WAITING, BatchState.QUEUED, BatchState.PAUSED, BatchState.HELD)
"""No worker has the batch, and it has not ended."""
NOT_TAKEN = f"state IN ({', '.join(map(repr, map(str, NOT_TAKEN_STATES)))})"
"""SQL: whether a batch is in one of them."""

_WHEN_DUE = "CASE WHEN due_at > clock_timestamp() THEN CAST('waiting' AS batch_state) ELSE 'queued' END"
_UNROUTED = "carrier = NULL, portion = NULL, route = NULL"

_LOCKED = "id IN (SELECT id FROM batch WHERE send_id = :send AND state IN ({states}) ORDER BY id FOR UPDATE)"
_LOCKED_OPEN = _LOCKED.format(states="'waiting', 'queued'")
_LOCKED_PAUSED, _LOCKED_HELD = _LOCKED.format(states="'paused'"), _LOCKED.format(states="'held'")

PAUSE = text(f"UPDATE batch SET state = 'paused' WHERE {_LOCKED_OPEN}")
"""Batches in a cycle go on to its end: only what no worker has is paused."""
RESUME = text(f"UPDATE batch SET state = {_WHEN_DUE} WHERE {_LOCKED_PAUSED}")
"""Batches that are due are queued; the others wait for their time, as before the pause. The caller has locked the send,
so a cycle that ends from now on finds it resumed."""

HOLD = text(f"UPDATE batch SET state = 'held' WHERE {_LOCKED_OPEN.replace('= :send', '= ANY(:sends)')}")
"""Batches in a cycle go on to its end, as with a pause; the end of the cycle then finds the send held."""
RELEASE = text(
    f"""
    UPDATE batch
       SET state = CASE WHEN (SELECT was_paused FROM send WHERE id = :send) THEN CAST('paused' AS batch_state)
                        ELSE {_WHEN_DUE} END,
           crashes = 0
     WHERE {_LOCKED_HELD}
    """
)
"""Like resuming, unless the send was paused before it was held. The crashes that may have held it count from 0 again.
The caller has locked the send."""

RESCHEDULE = text(
    f"""
    UPDATE batch
       SET due_at = :due_at,
           state = CASE WHEN state IN ('paused', 'held') THEN state
                        WHEN :ahead THEN CAST('waiting' AS batch_state) ELSE 'queued' END,
           {_UNROUTED}
     WHERE send_id = :send AND {NOT_TAKEN}
    """
)
"""Moves what no worker has. Paused and held batches get the new time, but keep their state. All are routed again at
that time: what waits with a carrier would go out as soon as the carrier is available."""

ROUTE = text(
    """
    UPDATE batch b
       SET carrier = w.carrier, route = w.route, portion = w.portion,
           state = CASE WHEN w.waits THEN CAST('waiting' AS batch_state) ELSE b.state END,
           due_at = CASE WHEN w.waits THEN clock_timestamp() + make_interval(secs => :seconds) ELSE b.due_at END,
           next_index = CASE WHEN w.portion IS NULL THEN b.next_index ELSE b.size + 1 END,
           retry_indexes = CASE WHEN w.portion IS NULL THEN b.retry_indexes
                        ELSE CAST(string_to_array(w.retry_indexes, ',') AS smallint[]) END
      FROM unnest(CAST(:id AS uuid[]), CAST(:carrier AS text[]), CAST(:route AS text[]), CAST(:portion AS smallint[]),
                  CAST(:retry_indexes AS text[]), CAST(:waits AS boolean[]))
               AS w (id, carrier, route, portion, retry_indexes, waits)
     WHERE b.id = w.id
    """
)
"""Puts queued batches into carriers' queues. Those whose carriers are all unavailable wait, and are looked at again."""

_DUE = """
        SELECT id FROM (
            SELECT id FROM batch WHERE state = 'waiting' AND {which} AND due_at <= statement_timestamp()
             ORDER BY due_at LIMIT {most} FOR UPDATE SKIP LOCKED) due
"""
WAKE_DUE = text(
    f"""
    UPDATE batch SET state = 'queued', {_UNROUTED} WHERE id IN (
        {_DUE.format(which="carrier IS NULL", most=1000)} UNION ALL
        {_DUE.format(which="carrier IS NOT NULL", most=500)})
    RETURNING id, size
    """
)
"""Queues what is due, a thousand at a time, and what waits for a carrier and is to be routed again: however much that
is, nothing else is late. Batches that another transaction has locked are woken the next time."""
WAKE_AVAILABLE = text(
    f"""
    UPDATE batch SET state = 'queued', {_UNROUTED} WHERE id IN (
        SELECT id FROM batch WHERE state = 'waiting' AND carrier IS NOT NULL AND carrier = ANY(:available)
         LIMIT :limit FOR UPDATE SKIP LOCKED)
    RETURNING id
    """
)
"""Queues what waits for a carrier that is available again."""

LEASE_OVER = """(b.lease_until < clock_timestamp() - CAST(:grace AS interval)
                  OR b.lease_until > clock_timestamp() + interval '2 minutes')"""
"""SQL: the lease of batch `b` and the `grace` after it are over. A lease lasts less than two minutes (see
MAX_LEASE_SECONDS), so one that ends later was taken before the clock of the database was set back."""

CLAIMED = f"""
    state = 'sending', epoch = b.epoch + 1, intent = c.intent, watermark = c.watermark,
    lease_until = clock_timestamp() + make_interval(secs => :lease), database_started = {STARTED}
"""
"""SQL: the assignments to a batch `b` of which a cycle claims `c.intent` messages."""

_CYCLE_OVER = f"intent = 0, watermark = 0, lease_until = NULL, database_started = NULL, {_UNROUTED}"

DONE = f"""
    state = 'done', next_index = b.size + 1, retry_indexes = NULL, postponed = 0, due_at = clock_timestamp(),
    attempts = 0, crashes = 0,
    {_CYCLE_OVER}
"""
"""SQL: the assignments to a batch `b` of which every message has a result."""

CLOSE_INTENT = text(
    f"""
    UPDATE batch b
       SET state = c.state, next_index = c.next_index,
           retry_indexes = CAST(string_to_array(nullif(c.retry_indexes, ''), ',') AS smallint[]),
           postponed = c.postponed,
           turn = CASE WHEN b.turn = 0 OR c.cost = 0 THEN b.turn ELSE b.turn + GREATEST(1, c.cost / a.weight) END,
           due_at = clock_timestamp() + make_interval(secs => c.wait), attempts = c.attempts, crashes = c.crashes,
           {_CYCLE_OVER}
      FROM unnest(CAST(:id AS uuid[]), CAST(:state AS batch_state[]), CAST(:next_index AS int[]),
                  CAST(:retry_indexes AS text[]), CAST(:postponed AS int[]), CAST(:cost AS bigint[]),
                  CAST(:wait AS float8[]), CAST(:attempts AS int[]), CAST(:crashes AS int[]))
               AS c (id, state, next_index, retry_indexes, postponed, cost, wait, attempts, crashes), account a
     WHERE b.id = c.id AND a.id = b.account_id
    """
)
"""Ends the cycle of batches: done, or back to wait for the next one. `cost` is not yet divided by the account's
weight. A batch without a turn is not given one: it has yet to be placed."""

CLOSE_UNSENT = text(
    f"""
    WITH unsent AS (
        SELECT id FROM batch WHERE send_id = :send AND {NOT_TAKEN} ORDER BY id FOR UPDATE
    )
    UPDATE batch b SET state = CAST(:state AS batch_state), due_at = clock_timestamp() FROM unsent u WHERE b.id = u.id
    RETURNING b.id, b.account_id, b.size, b.price, b.next_index, b.retry_indexes,
              {MESSAGES_LEFT} AS unsent
    """
)
"""Cancels or expires what no worker has of a send."""

LEAVE_OUT = text(
    """
    UPDATE batch
       SET next_index = :next_index, retry_indexes = NULLIF(CAST(:retry_indexes AS smallint[]), '{}'),
           postponed = :postponed, attempts = :attempts, portion = NULL,
           carrier = CASE WHEN portion IS NULL THEN carrier END,
           route = CASE WHEN portion IS NULL THEN route END,
           state = CASE WHEN :is_last THEN CAST('done' AS batch_state)
                        WHEN state = 'queued' AND :pause > 0 THEN 'waiting' ELSE state END,
           due_at = CASE WHEN :is_last THEN clock_timestamp()
                         WHEN :pause > 0 THEN GREATEST(due_at, clock_timestamp() + make_interval(secs => :pause))
                         ELSE due_at END
     WHERE id = :batch
    """
)
"""A message that no worker has is left out of its batch, which the caller has locked: the rest stays in its state, or
pauses before its next round. A batch for several carriers is routed again, as the portion of one may have had it."""
