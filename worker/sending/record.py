"""The step between two windows: records the results so far, and moves the watermark for the next window.

A worker that lost its lease may not submit another message, but its results are kept as evidence.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from shared.contacts.suppressions import CHANGED_SINCE, suppress_by_carrier
from shared.crashpoints import crashpoint
from shared.db.connection import ASYNC_COMMIT, STARTED, array, async_commit_statement, transaction, uuids
from shared.outbox import add_of_messages, listening
from shared.sends.sendable import MAY_CONTINUE
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.results import IN_CYCLE, in_doubt, moved_of, opted_out, record_lost
from worker.sending.settle_complete import ADDED, COLUMNS, RECORDED, ROWS, SUMS, Written, counts_of, parameters_of

RECORD_RESULTS = text(
    f"""
    WITH moved AS (
        UPDATE batch b
           SET watermark = CASE WHEN {MAY_CONTINUE} THEN GREATEST(b.watermark, LEAST(w.watermark, b.intent))
                                ELSE b.watermark END,
               lease_until = clock_timestamp() + make_interval(secs => :lease)
          FROM unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:watermark AS int[]),
                      {", ".join(f"CAST(:{status} AS int[])" for status in RECORDED)})
               WITH ORDINALITY AS w (id, epoch, watermark, {", ".join(RECORDED)}, number),
               send s
         WHERE {IN_CYCLE} AND s.id = b.send_id
        RETURNING b.id, b.send_id, b.database_started = {STARTED} AS same_start, {MAY_CONTINUE} AS may_continue,
                  {CHANGED_SINCE.format(account="b.account_id", snapshot=":opt_out_snapshot")} AS opted_out,
                  w.number, {", ".join(f"w.{status}" for status in RECORDED)}
    ), written AS (
        INSERT INTO message ({COLUMNS}) {ROWS}
         WHERE u.number = ANY(ARRAY(SELECT m.number FROM moved m WHERE m.same_start))
    ), sums AS (
        SELECT send_id, {SUMS} FROM moved WHERE same_start AND {" + ".join(RECORDED)} > 0 GROUP BY send_id
    ), totals AS (
        SELECT t.* FROM sums t JOIN send s ON s.id = t.send_id ORDER BY s.id FOR UPDATE OF s
    ), counted AS (
        UPDATE send s SET {ADDED} FROM totals c WHERE s.id = c.send_id
    )
    SELECT id, same_start, may_continue, opted_out, {ASYNC_COMMIT} FROM moved
    """
)
"""Moves the watermarks, writes the rows of the batches that this cycle still owns, and adds to their sends' counters.

No rows are written if the database has restarted: it is then unknown which ones exist."""


def record_results(
    engine: Engine,
    batches: list[ClaimedBatch],
    window_size: int,
    carrier: str,
    lease: float,
    opt_out_snapshot: str | None = None,
) -> None:
    """Record the results so far and allow the next messages to leave: one commit, asynchronous but for opt-outs that
    the carrier reports.

    Doubts are recorded only when the intent is closed, so until then only receipts change the rows written here.

    The watermark moves `window_size` messages beyond those with a result, so that a crash of this process leaves no
    more than that in doubt. Renews the lease for `lease` seconds. Marks batches that another worker owns by now as
    `lost`, those whose send was stopped as `halted`, and those whose account has opt-outs newer than
    `opt_out_snapshot` as `opted_out`. If the database has restarted, all are halted: these rows might get lost too,
    and the settlement is durable.
    """
    owned = [batch for batch in batches if not batch.lost]
    watermarks, parts = watermarks_ahead(owned, window_size), [now_and_later(batch) for batch in owned]
    written = [(batch, now) for batch, (now, _) in zip(owned, parts, strict=True)]
    rows = _execute(engine, written, watermarks, carrier, lease, opt_out_snapshot)
    crashpoint("record.committed")
    for batch, watermark, (_, later) in zip(owned, watermarks, parts, strict=True):
        row = rows.get(batch.batch_id)
        if row is None:
            batch.lost = True
            continue
        batch.opted_out = row.opted_out
        batch.halted = batch.quiet_seconds > 0 or not (row.may_continue and row.same_start)
        batch.watermark = batch.watermark if batch.halted else watermark
        batch.unrecorded = later
        if not row.same_start:
            batch.mark_rows_uncertain()
    record_lost(engine, batches)


def _execute(
    engine: Engine, written: Written, watermarks: list[int], carrier: str, lease: float, opt_out_snapshot: str | None
) -> dict[UUID, Row[Any]]:
    """Move the watermarks and write the rows. Returns the row of each batch that this cycle still owns, by its id."""
    parameters = {
        "id": uuids(batch.batch_id for batch, _ in written),
        "epoch": array(batch.epoch for batch, _ in written),
        "watermark": array(watermarks),
        "lease": lease,
        "opt_out_snapshot": opt_out_snapshot,
        **counts_of(written),
        **parameters_of(written, carrier),
    }
    suppressed = opted_out(written)
    with async_commit_statement(engine) as connection:
        listeners = listening(connection)
        if not suppressed and not any(batch.account_id in listeners for batch, positions in written if positions):
            return {row.id: row for row in connection.execute(RECORD_RESULTS, parameters)}
    with transaction(engine, durable=bool(suppressed)) as connection:
        if suppressed:
            suppress_by_carrier(connection, suppressed)  # before the statement, which reports newer opt-outs
        rows = {row.id: row for row in connection.execute(RECORD_RESULTS, parameters)}
        certain = [each for each in written if (row := rows.get(each[0].batch_id)) and row.same_start]
        add_of_messages(connection, lambda listeners: moved_of(certain, listeners))
        crashpoint("record.before_commit")
    return rows


def now_and_later(batch: ClaimedBatch) -> tuple[list[int], list[int]]:
    """The unrecorded positions to record now, and those to record in the settlement.

    The latter are the doubts, or everything if it is unknown which rows exist.
    """
    if batch.rows_uncertain:
        return [], batch.unrecorded
    now = [position for position in batch.unrecorded if not in_doubt(batch, position)]
    if len(now) == len(batch.unrecorded):
        return now, []
    return now, [position for position in batch.unrecorded if in_doubt(batch, position)]


def watermarks_ahead(batches: list[ClaimedBatch], ahead: int) -> list[int]:
    """The batches' watermarks that allow `ahead` messages without a result to leave, in all."""
    watermarks = []
    for batch in batches:
        watermark = batch.watermark
        if not batch.quiet_seconds:
            watermark, ahead = batch.watermark_ahead(ahead)
        watermarks.append(watermark)
    return watermarks
