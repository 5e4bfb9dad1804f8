"""The end of a cycle: writes the last results, captures and releases credits, and returns the rest to the queue.

Usually every message has a result, with none in doubt. Then there is nothing to decide, and `finish` ends the cycle
with one statement. Any other cycle ends in a transaction of several, whose last step also ends the cycles of workers
that died: `close_intents`. Both commit durably, and take locks in the same order: batch, send, account.
"""

from collections import Counter
from collections.abc import Collection

from sqlalchemy import Engine, text

from shared.crashpoints import crashpoint
from shared.db.connection import STARTED, array, durable_statement, transaction, uuids
from shared.ledger.ledger import SETTLE_BATCHES, SETTLED
from shared.outbox import listening
from shared.sends import batch_states, send_states
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.close_intents import Settlement, close_intents
from worker.sending.results import (
    ADDED,
    COLUMNS,
    RECORDED,
    ROWS,
    SENT,
    SUMS,
    counts_of,
    fence,
    parameters_of,
    record_lost,
    write_failed_attempts,
    write_rows,
)

OWNED = f"b.id = w.id AND b.epoch = CASE WHEN b.intent > 0 AND b.database_started = {STARTED} THEN w.epoch END"
"""SQL: like `IN_CYCLE`, and the database has not restarted since the claim."""

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


def settle(
    engine: Engine, batches: list[ClaimedBatch], carrier: str, wait: float, resend_lanes: Collection[int] = ()
) -> None:
    """End a cycle. Messages without a result are sent again after `wait` seconds; lost batches are left alone.

    Messages without an answer are in doubt; in `resend_lanes` they are sent again.
    """
    if can_finish(batches):
        batches = finish(engine, batches, carrier)
    if batches:
        _settle(engine, batches, carrier, wait, resend_lanes)


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
    account listens to events, which `_settle` writes before it locks the account.
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


def _settle(
    engine: Engine, batches: list[ClaimedBatch], carrier: str, wait: float, resend_lanes: Collection[int]
) -> None:
    """End a cycle in which messages are in doubt, to be sent again, or of a send that may be stopped."""
    with transaction(engine) as connection:
        fence(connection, batches)
        owned = [batch for batch in batches if not batch.lost]
        resent = [batch.resend_doubts() if batch.lane in resend_lanes else 0 for batch in owned]
        counted = write_rows(connection, owned, carrier)
        write_failed_attempts(connection, batches, carrier)
        settlements = [_settlement_of(batch, wait, count) for batch, count in zip(owned, resent, strict=True)]
        close_intents(connection, settlements, counted)
        crashpoint("settle.before_commit")
    crashpoint("settle.committed")
    for batch in owned:
        batch.unrecorded.clear()
    for batch in batches:
        batch.failed.clear()
    record_lost(engine, batches)


def _settlement_of(batch: ClaimedBatch, wait: float, resent: int) -> Settlement:
    unsent, next_index, rest = batch.unsent(), batch.next_index, batch.retry[len(batch.indexes) :]
    if not batch.retry:
        next_index += len(batch.indexes)
        while unsent and unsent[-1] == next_index - 1:  # never reached: no need to list it in `retry`
            next_index = unsent.pop()
    tries = [*batch.again.values(), *batch.for_other_carriers.values()]
    at_once = not batch.again and not batch.attempts  # after the first failure another carrier may take it now
    return Settlement(
        batch_id=batch.batch_id,
        send_id=batch.send_id,
        account_id=batch.account_id,
        epoch=batch.epoch,
        lane=batch.lane,
        segments=batch.segments,
        price=batch.price,
        size=batch.size,
        next_index=next_index,
        retry=unsent + rest,
        tally=Counter(result.status for result in batch.results if result is not None),
        attempts=batch.attempts + max(tries) if tries else 0,
        resent=resent,
        wait=batch.wait or (wait if tries and not at_once else 0.0),
    )
