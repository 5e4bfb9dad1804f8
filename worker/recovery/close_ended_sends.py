"""Closes what is left of sends that have expired or were canceled."""

from typing import Any

from sqlalchemy import Connection, Engine, Row, bindparam, func, or_, select, text

from shared.db.connection import reading
from shared.db.expressions import in_constants
from shared.db.tables.sends import send
from shared.job_backoff import failures_of, is_ready
from shared.job_failures import attempt_each
from shared.lifecycle import SendState
from shared.sends import batch_states
from shared.sends.close_unsent import close_unsent
from shared.sends.holding import lock_sends

ENDED_SENDS = text(
    f"""
    SELECT id, account_id, outcome, {failures_of("closing", "ended.id")} AS failures
      FROM ((SELECT id, account_id, 'expired' AS outcome
               FROM send
              WHERE completed_at IS NULL AND expires_at <= statement_timestamp() AND state <> 'canceled'
                AND (expanded_to IS NOT NULL OR EXISTS (SELECT FROM batch b WHERE b.send_id = send.id
                                                           AND b.{batch_states.NOT_TAKEN}))
                AND {is_ready("closing", "send.id")}
              ORDER BY expires_at LIMIT 100)
             UNION ALL
            (SELECT id, account_id, 'canceled' FROM send s
              WHERE state = 'canceled' AND completed_at IS NULL
                AND EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.{batch_states.NOT_TAKEN})
                AND {is_ready("closing", "s.id")}
              LIMIT 100)) AS ended
     ORDER BY row_number() OVER (PARTITION BY outcome ORDER BY id), id
    """
)
"""Sends that must be closed: expired ones, and canceled ones of which batches came back from a worker. Two limited
selects, so that each uses its own index. They alternate, so that many of one kind do not delay the other.

A group may be expanded to its last contact with its last page still missing: that page ends the send."""
HAS_ENDED = select(
    or_(in_constants(send.c.state, SendState.CANCELED), send.c.expires_at <= func.clock_timestamp())
).where(send.c.id == bindparam("send"))


def close_ended_sends(engine: Engine) -> None:
    """Close those that are due, or some of them if that takes long (`attempt_each`)."""
    with reading(engine) as connection:
        ended = connection.execute(ENDED_SENDS).all()
    attempt_each(engine, "closing", ended, _close)


def _close(connection: Connection, ended: Row[Any]) -> None:
    """Close what is left of a send, unless its validity was extended before its lock."""
    lock_sends(connection, [ended.id])
    if connection.execute(HAS_ENDED, {"send": ended.id}).scalar():
        close_unsent(connection, ended.id, ended.outcome)
