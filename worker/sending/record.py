"""Records carriers' answers. A lost lease stops submits, but not evidence.

A worker that lost its lease may not submit another message. Its results are facts all the same: they resolve the
messages that the batch's new owner has put in doubt.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from shared.contacts.suppressions import CHANGED_SINCE
from shared.crashpoints import crashpoint
from shared.db.connection import (
    ASYNC_COMMIT,
    STARTED,
    array,
    async_commit_statement,
    copy_rows,
    field,
    transaction,
    uuids,
)
from shared.ids import MessageIds, index_of, short_prefix_of
from shared.lifecycle import MessageStatus
from shared.outbox import Moved, add_of_messages, listening
from shared.sends.sendable import GOES_ON
from worker.receipts.in_doubt import Resolution, resolve
from worker.send_counters import Changes
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.message_rows import COLUMNS, IN_DOUBT, ROWS, Written, insert_rows, parameters_of

DOUBT_COLUMNS = "message_id, carrier, sender_id, phone, submitted_at, expires_at"

HELD = "b.id = w.id AND b.epoch = CASE WHEN b.intent > 0 THEN w.epoch END"
"""SQL: batch `b` is the one of `w`, and still in the cycle of that epoch. This is one condition, or Postgres would
take claimed batches for few, and look through all of them for each row of `w`."""

RECORDED = (MessageStatus.SENT, MessageStatus.REJECTED, MessageStatus.FAILED)
"""Results that are recorded before the intent is closed. A doubt is not."""
SUMS, ADDED = (
    ", ".join(each.format(status) for status in RECORDED) for each in ("sum({0}) AS {0}", "{0} = s.{0} + c.{0}")
)

ADVANCE = text(
    f"""
    WITH moved AS (
        UPDATE batch b
           SET watermark = CASE WHEN {GOES_ON} THEN GREATEST(b.watermark, LEAST(w.watermark, b.intent))
                                ELSE b.watermark END,
               lease_until = clock_timestamp() + make_interval(secs => :lease)
          FROM unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:watermark AS int[]),
                      {", ".join(f"CAST(:{status} AS int[])" for status in RECORDED)})
               WITH ORDINALITY AS w (id, epoch, watermark, {", ".join(RECORDED)}, number),
               send s
         WHERE {HELD} AND s.id = b.send_id
        RETURNING b.id, b.send_id, b.database_started = {STARTED} AS same_start, {GOES_ON} AS goes_on,
                  {CHANGED_SINCE.format(account="b.account_id", snapshot=":list_read")} AS opted_out,
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
    SELECT id, same_start, goes_on, opted_out, {ASYNC_COMMIT} FROM moved
    """
)
"""Moves the watermarks, writes the rows of the batches that this cycle still owns, and adds to their sends' counters.

No rows are written if the database has restarted: it is then unknown which ones exist."""

KNOWN = text("SELECT id FROM message WHERE id = ANY(:ids)")

FENCE = text(
    f"""
    SELECT b.id, b.database_started = {STARTED} AS same_start
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[])) AS w (id, epoch)
        ON {HELD}
     ORDER BY b.id FOR UPDATE OF b
    """
)


def advance(
    engine: Engine, batches: list[ClaimedBatch], ahead: int, carrier: str, lease: float, list_read: str | None = None
) -> None:
    """Record the results so far and allow the next messages to leave: one asynchronous commit.

    Doubts are recorded only when the intent is closed, so until then only receipts change the rows written here.

    The watermark moves `ahead` messages beyond those with a result, so that a crash of this process leaves no more than
    that in doubt. Renews the lease for `lease` seconds. Marks batches that another worker owns by now as `lost`, those
    whose send was stopped as `halted`, and those whose account has opt-outs newer than the snapshot `list_read` as
    `opted_out`. If the database has restarted, all are halted: these rows might get lost too, and the settlement is
    durable.
    """
    owned = [batch for batch in batches if not batch.lost]
    watermarks, parts = watermarks_ahead(owned, ahead), [now_and_later(batch) for batch in owned]
    written = [(batch, now) for batch, (now, _) in zip(owned, parts, strict=True)]
    rows = _record(engine, written, watermarks, carrier, lease, list_read)
    crashpoint("advance.committed")
    for batch, watermark, (_, later) in zip(owned, watermarks, parts, strict=True):
        row = rows.get(batch.batch_id)
        if row is None:
            batch.lost = True
            continue
        batch.opted_out = row.opted_out
        batch.halted = batch.wait > 0 or not (row.goes_on and row.same_start)
        batch.watermark = batch.watermark if batch.halted else watermark
        batch.unrecorded = later
        if not row.same_start:
            batch.doubt_rows()
    record_lost(engine, batches)


def _record(
    engine: Engine, written: Written, watermarks: list[int], carrier: str, lease: float, list_read: str | None
) -> dict[UUID, Row[Any]]:
    """Move the watermarks and write the rows. Returns the row of each batch that this cycle still owns, by its id."""
    parameters = {
        "id": uuids(batch.batch_id for batch, _ in written),
        "epoch": array(batch.epoch for batch, _ in written),
        "watermark": array(watermarks),
        "lease": lease,
        "list_read": list_read,
        **counts_of(written),
        **parameters_of(written, carrier),
    }
    with async_commit_statement(engine) as connection:
        listeners = listening(connection)
        if not any(batch.account_id in listeners for batch, positions in written if positions):
            return {row.id: row for row in connection.execute(ADVANCE, parameters)}
    with transaction(engine, durable=False) as connection:
        rows = {row.id: row for row in connection.execute(ADVANCE, parameters)}
        certain = [each for each in written if (row := rows.get(each[0].batch_id)) and row.same_start]
        add_of_messages(connection, lambda listeners: moved_of(certain, listeners))
        crashpoint("advance.before_commit")
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


def counts_of(written: Written) -> dict[str, str]:
    """The number of results of each batch by status, as parameters."""
    by_batch = [[batch.result(position).status for position in positions] for batch, positions in written]
    return {str(status): array([statuses.count(status) for statuses in by_batch]) for status in RECORDED}


def watermarks_ahead(batches: list[ClaimedBatch], ahead: int) -> list[int]:
    """The batches' watermarks that allow `ahead` messages without a result to leave, in all."""
    watermarks = []
    for batch in batches:
        watermark = batch.watermark
        if not batch.wait:
            watermark, ahead = batch.watermark_ahead(ahead)
        watermarks.append(watermark)
    return watermarks


def fence(connection: Connection, batches: list[ClaimedBatch]) -> None:
    """Lock the batches that this cycle still owns, for the rest of the transaction. Marks the others as lost."""
    ids, epochs = uuids(batch.batch_id for batch in batches), array(batch.epoch for batch in batches)
    owned = dict(map(tuple, connection.execute(FENCE, {"id": ids, "epoch": epochs}).all()))
    for batch in batches:
        batch.lost = batch.batch_id not in owned
        if not owned.get(batch.batch_id, True):
            batch.doubt_rows()


def write_rows(connection: Connection, batches: Iterable[ClaimedBatch], carrier: str) -> Changes:
    """Insert the missing rows, doubts included. Returns the increments of the sends' counters.

    The batches must be locked by this transaction.
    """
    doubt_lines: list[str] = []
    counted: Changes = {}
    written: Written = []
    for batch in batches:
        if batch.rows_uncertain:
            forget_recorded(connection, batch)
        positions = batch.unrecorded
        if positions:
            statuses: Counter[str] = Counter([batch.result(position).status for position in positions])
            counted[batch.send_id] = counted[batch.send_id] + statuses if batch.send_id in counted else statuses
            if IN_DOUBT in statuses:
                doubt_lines += doubt_lines_of(batch, positions, carrier)
            written.append((batch, positions))
    if doubt_lines:
        copy_rows(connection, "doubt", DOUBT_COLUMNS, "".join(doubt_lines))
    if written:
        insert_rows(connection, written, carrier)
        add_of_messages(connection, lambda listeners: moved_of(written, listeners))
    return counted


def moved_of(written: Written, listeners: frozenset[int]) -> Iterator[Moved]:
    """The new states of messages, by status and error, for accounts in `listeners`."""
    for batch, positions in written:
        if batch.account_id in listeners:
            alike: dict[tuple[MessageStatus, str | None], list[int]] = {}
            for position in positions:
                status, _, error, _, _ = batch.result(position)
                alike.setdefault((status, error), []).append(batch.indexes[position])
            for (status, error), indexes in alike.items():
                yield Moved(batch.account_id, batch.send_id, batch.batch_id, status, indexes, error)


def doubt_lines_of(batch: ClaimedBatch, positions: list[int], carrier: str) -> Iterator[str]:
    """Rows of `doubt` for the messages in doubt, in COPY's text format."""
    prefix, constant = short_prefix_of(batch.batch_id), f"{carrier}\t{field(batch.sender_id)}"
    for position in positions:
        if in_doubt(batch, position):
            at = batch.result(position).at
            name = f"{prefix}{batch.indexes[position]:04x}"
            yield f"{name}\t{constant}\t{batch.phones[position]}\t{at}\t{batch.expires_at}\n"


def forget_recorded(connection: Connection, batch: ClaimedBatch) -> None:
    """Remove positions that have a row from the unrecorded ones: the commit without a response had happened."""
    ids = MessageIds(batch.batch_id, [batch.indexes[position] for position in batch.unrecorded])
    known = {index_of(row.id) for row in connection.execute(KNOWN, {"ids": list(ids)})}
    batch.unrecorded = [position for position in batch.unrecorded if batch.indexes[position] not in known]
    batch.rows_uncertain = False


def in_doubt(batch: ClaimedBatch, position: int) -> bool:
    """Whether the message got no answer."""
    return batch.result(position).status is IN_DOUBT


def record_lost(engine: Engine, batches: list[ClaimedBatch]) -> None:
    """Offer the results of lost batches as evidence for messages that the new owner put in doubt.

    Includes recorded results: a crash of the database may have undone their rows.
    """
    lost = [batch for batch in batches if batch.lost]
    evidence = [
        Resolution(identifier, *result[:3])
        for batch in lost
        for identifier, result in zip(MessageIds(batch.batch_id, batch.indexes), batch.results, strict=True)
        if result is not None and result.status is not IN_DOUBT
    ]
    if evidence:
        with transaction(engine) as connection:
            resolve(connection, evidence)
    for batch in lost:
        batch.forget()
