"""Records failed attempts of messages that are sent again. A message's last attempt is in its own row."""

from collections.abc import Sequence

from sqlalchemy import Connection, text

from shared.db.connection import array, texts
from shared.ids import short_prefix_of
from worker.sending.claimed_batch import ClaimedBatch

INSERT = text(
    """
    INSERT INTO attempt (message_id, submitted_at, answer_ms, answer, carrier, route, error)
    SELECT message, at, answer_ms, 'failed', :carrier, route, error
      FROM unnest(CAST(:message AS uuid[]), CAST(:at AS timestamptz[]), CAST(:answer_ms AS int[]),
                  CAST(:route AS text[]), CAST(:error AS text[])) AS f (message, at, answer_ms, route, error)
    ON CONFLICT (message_id, submitted_at) DO NOTHING
    """
)


def write_failed(connection: Connection, batches: Sequence[ClaimedBatch], carrier: str) -> None:
    """Record the failed attempts, also those of lost batches: they are facts. Each is recorded once."""
    failed = [(batch, each) for batch in batches for each in batch.failed]
    if not failed:
        return
    connection.execute(
        INSERT,
        {
            "carrier": carrier,
            "message": array(f"{short_prefix_of(batch.batch_id)}{each.message:04x}" for batch, each in failed),
            "at": array(f'"{each.at}"' for _, each in failed),
            "answer_ms": array(batch.answer_ms.get(each.at, 0) for batch, each in failed),
            "route": texts(batch.route for batch, _ in failed),
            "error": texts(each.error for _, each in failed),
        },
    )
