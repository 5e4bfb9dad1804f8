"""Every change of a send's state, as SQL. No other module sets `send.state`.

    scheduled   its `send_at` has not come
    expanding   its group is turned into batches (worker/jobs/expand.py)
    queued      its batches may be claimed
    sending     a worker has claimed some of it
    paused      stopped by its owner
    held        stopped by `held_by` (shared/sends/holding.py)
    completed   every batch has ended
    canceled    ended by its owner or the operator; `completed_at` is set once what workers had of it has ended too

A send is locked after its batches and before its account.
"""

from sqlalchemy import text

_WHEN_DUE = """
    CASE WHEN send_at > clock_timestamp() THEN CAST('scheduled' AS send_state)
         WHEN expanded_to IS NOT NULL THEN 'expanding' ELSE 'queued' END
"""

PAUSE = text(
    """
    UPDATE send SET state = 'paused'
     WHERE id = :send AND state IN ('scheduled', 'expanding', 'queued', 'sending')
    """
)
"""Changes no row of a send that is held or has ended: the caller tells by the count."""
RESUME = text(f"UPDATE send SET state = {_WHEN_DUE} WHERE id = :send AND state = 'paused'")
"""The send continues where its time and its expansion stand now."""

HOLD = text(
    """
    UPDATE send SET state = 'held', held_by = :by, held_reason = :reason, was_paused = (state = 'paused')
     WHERE id = ANY(:sends) AND completed_at IS NULL AND state NOT IN ('canceled', 'completed', 'held')
    RETURNING id, account_id
    """
)
"""The first reason to hold a send stays: one that is held already is not changed."""
HOLD_ANEW = text(
    "UPDATE send SET held_by = 'operator', held_reason = :reason WHERE id = ANY(:sends) AND state = 'held'"
)
"""Only the operator can release it now."""
PAUSE_CANARY = text("UPDATE send SET was_paused = true WHERE id = :send AND state = 'held' AND held_by = 'canary'")
"""Before it is released, and so paused."""
HOLD_POISONED = text(
    """
    UPDATE send SET state = 'held', held_by = 'crashes', held_reason = :reason,
           was_paused = CASE WHEN state = 'held' THEN was_paused ELSE state = 'paused' END
     WHERE id = :id AND state NOT IN ('canceled', 'completed')
    """
)
"""Also of a send that its owner could let go on: now only the operator can."""
HOLD_FAILING = text(
    """
    UPDATE send s
       SET state = 'held', held_by = 'stop_if', was_paused = false,
           held_reason = format('%s of %s messages failed; `stop_if` allows a share of %s.', n.failed, n.answered,
                                n.share)
      FROM (SELECT id, failed + undelivered AS failed, sent + delivered + failed + undelivered AS answered,
                   CAST(rules -> 'stop_if' ->> 'min_messages' AS int) AS min_messages,
                   CAST(rules -> 'stop_if' ->> 'failed_share' AS numeric) AS share
              FROM send WHERE id = ANY(:ids) AND rules ? 'stop_if' ORDER BY id FOR UPDATE) AS n
     WHERE s.id = n.id AND s.state IN ('expanding', 'queued', 'sending')
       AND n.answered >= n.min_messages AND n.failed > n.share * n.answered
    RETURNING s.id, s.account_id
    """
)
"""Holds sends whose `stop_if` applies. Locks them in the order of their ids before it reads the counters, so no
settlement in between is missed."""
RELEASE = text(
    f"""
    UPDATE send
       SET held_reason = NULL, held_by = NULL, was_paused = NULL,
           state = CASE WHEN was_paused THEN CAST('paused' AS send_state) ELSE {_WHEN_DUE} END
     WHERE id = :send AND state = 'held'
    """
)
"""A send that was paused before it was held stays paused."""

RESCHEDULE = text(
    """
    UPDATE send
       SET send_at = :send_at,
           state = CASE WHEN state IN ('paused', 'held') THEN state
                        WHEN :ahead THEN CAST('scheduled' AS send_state)
                        WHEN expanded_to IS NOT NULL THEN 'expanding' ELSE 'queued' END
     WHERE id = :send
    """
)
"""The caller has locked the send. A paused or held one keeps its state and gets the new time."""
START_DUE = text(
    """
    UPDATE send SET state = CASE WHEN expanded_to IS NULL THEN CAST('queued' AS send_state) ELSE 'expanding' END
     WHERE id IN (
        SELECT id FROM send WHERE state = 'scheduled' AND send_at <= statement_timestamp()
         ORDER BY send_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
    RETURNING id, state
    """
)
"""Starts what is due, ten thousand at a time; sends that another transaction has locked start the next time. Compares
with the database's clock, the same for all workers. Each send is returned to one of them only, which publishes its
task."""
BEGIN_SENDING = text("UPDATE send SET state = 'sending' WHERE id = ANY(:ids) AND state = 'queued'")
"""Changes a send once, at the first claim of any of its batches; later claims find no row to write."""

MOVE_CURSOR = text(
    """
    UPDATE send
       SET expanded_to = CASE WHEN :over THEN NULL ELSE CAST(:position AS bigint) END,
           unexpanded = unexpanded - :expanded - :removed,
           unexpanded_credits = CASE WHEN :over THEN unexpanded_credits * 0 ELSE unexpanded_credits - :credits END,
           open_batches = open_batches + :batches,
           suppressed = suppressed + :suppressed, removed = removed + :removed,
           invalid = invalid + :unfit, accepted = accepted - :suppressed - :removed - :unfit,
           state = CASE WHEN NOT :over THEN state
                        WHEN open_batches + :batches = 0 THEN CAST('completed' AS send_state)
                        ELSE CAST('sending' AS send_state) END,
           completed_at = CASE WHEN :over AND open_batches + :batches = 0 THEN clock_timestamp() END
     WHERE id = :send
    RETURNING state
    """
)
"""Moves the cursor of a group's expansion. After the last page the send is `sending`, or completed if nothing is."""

_ENDS = "c.closed > 0 AND s.open_batches = c.closed AND s.expanded_to IS NULL"
BATCHES_CLOSED = f"""
    open_batches = s.open_batches - c.closed,
    state = CASE WHEN {_ENDS} AND s.state <> 'canceled' THEN CAST('completed' AS send_state) ELSE s.state END,
    completed_at = CASE WHEN {_ENDS} THEN clock_timestamp() ELSE s.completed_at END
"""
"""SQL: the assignments to a send `s` of which `c.closed` batches have ended."""

_CLOSE = """
    UPDATE send
       SET {counter} = {counter} + :unsent, open_batches = open_batches - :batches, unexpanded = 0,
           unexpanded_credits = unexpanded_credits * 0, expanded_to = NULL,
           state = CASE WHEN state IN ('completed', 'canceled') THEN state
                        WHEN :canceled THEN CAST('canceled' AS send_state)
                        WHEN open_batches = :batches THEN CAST('completed' AS send_state)
                        WHEN state = 'expanding' THEN CAST('sending' AS send_state)
                        ELSE state END,
           completed_at = CASE WHEN completed_at IS NULL AND open_batches = :batches THEN clock_timestamp()
                               ELSE completed_at END
     WHERE id = :send
    RETURNING state
"""
CANCEL_REST, EXPIRE_REST = (text(_CLOSE.format(counter=counter)) for counter in ("canceled", "expired"))
"""End what no worker has of a send, `:unsent` messages in `:batches` batches, and what is not expanded yet."""
