"""Settles a cycle whose messages all have a result, with none in doubt: the usual case.

One statement, which is its own transaction, closes the batches, writes the missing rows, adds them to the sends'
counters, and captures or releases the credits. It does what `worker.sending.settle` does in general, and takes locks in
the same order: batch, send, account.
"""

from sqlalchemy import Engine, text

from shared.crashpoints import crashpoint
from shared.db.connection import STARTED, array, durable_statement, uuids
from shared.ledger.ledger import SETTLE_BATCHES, SETTLED
from shared.outbox import listening
from shared.sends import batch_states, send_states
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.results import ADDED, COLUMNS, RECORDED, ROWS, SENT, SUMS, counts_of, parameters_of

OWNED = f"b.id = w.id AND b.epoch = CASE WHEN b.intent > 0 AND b.database_started = {STARTED} THEN w.epoch END"
"""SQL: like `worker.sending.results.IN_CYCLE`, and the database has not restarted since the claim."""

PER_BATCH = ("epoch", *RECORDED, "captured", "released")

FINISH = text(
    f"""
    WITH ended AS (
        UPDATE batch b
           SET {batch_states.DONE}
          FROM unnest(CAST(:id AS uuid[]), {", ".join(f"CAST(:{name} AS int[])" for name in PER_BATCH)})
               WITH ORDINALITY AS w (id, {", ".join(PER_BATCH)}, number)
         WHERE {OWNED}
        RETURNING b.id, b.send_id, b.account_id, w.number, {", ".join(f"w.{name}" for name in PER_BATCH)}
    ), written AS (
        INSERT INTO message ({COLUMNS}) {ROWS}
         WHERE (SELECT count(*) FROM ended) = :batches OR u.number = ANY(ARRAY(SELECT e.number FROM ended e))
        RETURNING 1
    ), sums AS (
        SELECT send_id, count(*) AS closed, {SUMS} FROM ended GROUP BY send_id ORDER BY send_id
    ), counted AS (
        UPDATE send s SET {ADDED}, {send_states.BATCHES_CLOSED} FROM sums c WHERE s.id = c.send_id
        RETURNING 1
    ), posted AS (
        {SETTLE_BATCHES}
        RETURNING 1
    ), paid AS (
        UPDATE account a
           SET {SETTLED}
          FROM (SELECT account_id, sum(captured) AS captured, sum(released) AS released
                  FROM ended WHERE captured + released > 0 GROUP BY account_id ORDER BY account_id) d
         WHERE a.id = d.account_id AND (SELECT count(*) FROM counted) + (SELECT count(*) FROM written)
                                       + (SELECT count(*) FROM posted) >= 0
    )
    SELECT ARRAY(SELECT number FROM ended)
    """
)
"""`paid` refers to all the others, so that the account's row is locked last: the lock is held until the commit is on
the disk."""


def can_finish(batches: list[ClaimedBatch]) -> bool:
    """Whether every message has a result that is certain, and no send has a rule that might stop it."""
    return all(map(_has_ended, batches))


def _has_ended(batch: ClaimedBatch) -> bool:
    return (
        batch.known == len(batch.indexes) == batch.left
        and not (batch.lost or batch.rows_uncertain or batch.failed)
        and not (batch.rules and "stop_if" in batch.rules)
        and all(result is not None and result.status in RECORDED for result in batch.results)
    )


def finish(engine: Engine, batches: list[ClaimedBatch], carrier: str) -> list[ClaimedBatch]:
    """Settle the batches, for which `can_finish` is true: one durable commit.

    Returns the batches that were not settled: another worker owns them by now, the database has restarted, or an
    account listens to events, which `worker.sending.settle` writes before it locks the account.
    """
    ordered = sorted(batches, key=lambda batch: batch.batch_id.int)  # the order of locks
    written = [(batch, batch.unrecorded) for batch in ordered]
    with durable_statement(engine) as connection:
        if not listening(connection).isdisjoint(batch.account_id for batch in ordered):
            return batches
        parameters = {
            "id": uuids(batch.batch_id for batch in ordered),
            "epoch": array(batch.epoch for batch in ordered),
            **counts_of(written),
            **_credits(ordered),
            **parameters_of(written, carrier),
            "batches": len(ordered),
        }
        crashpoint("finish.before_commit")
        ended: list[int] = connection.execute(FINISH, parameters).scalar_one()
    crashpoint("finish.committed")
    return [ordered[number - 1] for number in sorted({*range(1, len(ordered) + 1)} - {*ended})]


def _credits(batches: list[ClaimedBatch]) -> dict[str, str]:
    """The credits to capture and to release of each batch."""
    charged = [
        [batch.result(position).status for position in range(len(batch.indexes))].count(SENT) for batch in batches
    ]
    return {
        "captured": array(sent * batch.price for batch, sent in zip(batches, charged, strict=True)),
        "released": array((batch.known - sent) * batch.price for batch, sent in zip(batches, charged, strict=True)),
    }
