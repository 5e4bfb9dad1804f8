"""Closes what is left of sends that have expired or were canceled."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, text

from shared.db.connection import reading
from shared.job_backoff import FAILURES, IS_READY
from shared.job_failures import attempt_each
from shared.sends import batch_states
from shared.sends.close_unsent import close_unsent

ENDED_SENDS = text(
    f"""
    SELECT id, account_id, outcome, failures
      FROM ((SELECT id, account_id, 'expired' AS outcome, {FAILURES.format(kind="closing", subject="id")} AS failures
               FROM send
              WHERE completed_at IS NULL AND expires_at <= clock_timestamp() AND state <> 'canceled'
                AND (unexpanded > 0 OR EXISTS (SELECT FROM batch b WHERE b.send_id = send.id
                                                 AND b.{batch_states.NOT_TAKEN}))
                AND {IS_READY.format(kind="closing", subject="id", account="send.account_id")}
              ORDER BY {FAILURES.format(kind="closing", subject="id")} IS NOT NULL, expires_at LIMIT 100)
             UNION ALL
            (SELECT id, account_id, 'canceled', {FAILURES.format(kind="closing", subject="id")} FROM send s
              WHERE {IS_READY.format(kind="closing", subject="id", account="s.account_id")} AND state = 'canceled'
                AND completed_at IS NULL
                AND EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.{batch_states.NOT_TAKEN})
              ORDER BY {FAILURES.format(kind="closing", subject="id")} IS NOT NULL LIMIT 100)) AS ended
     ORDER BY failures IS NOT NULL, row_number() OVER (PARTITION BY outcome ORDER BY id), id
    """
)
"""Sends that must be closed: expired ones, and canceled ones of which batches came back from a worker. Two limited
selects, so that each uses its own index. They alternate, so that many of one kind do not delay the other."""


def close_ended_sends(engine: Engine) -> None:
    """Close those that are due, or some of them if that takes long (`attempt_each`)."""

    def ended() -> Sequence[Row[Any]]:
        with reading(engine) as connection:
            return connection.execute(ENDED_SENDS).all()

    attempt_each(engine, "closing", ended, lambda connection, send: close_unsent(connection, send.id, send.outcome))
