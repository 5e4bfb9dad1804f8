"""Records what carriers answered. Fence intents, accept evidence.

A worker that lost its lease may not submit another message, but what it learned is a fact: it is recorded all the
same, where the batch's new owner has meanwhile put the message in doubt.
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
"""A batch `b` is the one of `w`, and still in the turn of that epoch. In one condition: Postgres takes the batches of
turns for few, from the statistics or from their own index, and would look through all of them for each of `w`."""

RECORDED = (MessageStatus.SENT, MessageStatus.REJECTED, MessageStatus.FAILED)
"""What is known of a message before its intent is closed."""
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
"""Moves the watermarks, writes the rows of the batches that are still this turn's, and adds them to their sends.

Rows are not written where the database has begun anew: then it is not known which ones there are."""

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
    """Record what is known so far, and let the next messages leave: one commit, which need not reach the disk.

    A message in doubt is not recorded before its intent is closed, so whatever is written here only moves by receipts.

    The watermark is put `ahead` messages beyond those that have a result, so that no crash of this process can leave
    more than that in doubt. Renews the lease of `lease` seconds. A batch that is another worker's by now is marked
    lost, one whose send may not go on is marked halted: nothing more of them may leave. Halted are all where the
    database has begun anew: what is recorded here might be gone as well, and the settlement is on disk. Marked is also
    whose account has opt-outs that the snapshot `list_read` did not see.
    """
    held = [batch for batch in batches if not batch.lost]
    watermarks, parts = watermarks_ahead(held, ahead), [now_and_later(batch) for batch in held]
    written = [(batch, now) for batch, (now, _) in zip(held, parts, strict=True)]
    kept = _record(engine, written, watermarks, carrier, lease, list_read)
    crashpoint("advance.committed")
    for batch, watermark, (_, later) in zip(held, watermarks, parts, strict=True):
        row = kept.get(batch.batch_id)
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
    """Move the watermarks and write the rows. Returns what there is to know of each batch that is still this turn's."""
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
        heard = listening(connection)
        if not any(batch.account_id in heard for batch, positions in written if positions):
            return {row.id: row for row in connection.execute(ADVANCE, parameters)}
    with transaction(engine, durable=False) as connection:
        kept = {row.id: row for row in connection.execute(ADVANCE, parameters)}
        sure = [each for each in written if (row := kept.get(each[0].batch_id)) and row.same_start]
        add_of_messages(connection, lambda heard: moved_of(sure, heard))
        crashpoint("advance.before_commit")
    return kept


def now_and_later(batch: ClaimedBatch) -> tuple[list[int], list[int]]:
    """The unrecorded places that may be recorded now, and those of the settlement.

    That is who is in doubt, and everything where it is first to be seen which rows there are.
    """
    if batch.rows_uncertain:
        return [], batch.unrecorded
    now = [position for position in batch.unrecorded if not in_doubt(batch, position)]
    if len(now) == len(batch.unrecorded):
        return now, []
    return now, [position for position in batch.unrecorded if in_doubt(batch, position)]


def counts_of(written: Written) -> dict[str, str]:
    """The results of each slice by status, as parameters."""
    found = [[batch.result(position).status for position in positions] for batch, positions in written]
    return {str(status): array([statuses.count(status) for statuses in found]) for status in RECORDED}


def watermarks_ahead(batches: list[ClaimedBatch], ahead: int) -> list[int]:
    """Each slice's watermark when `ahead` messages in all, of those that have no result, may be on their way."""
    watermarks = []
    for batch in batches:
        watermark = batch.watermark
        if not batch.wait:
            watermark, ahead = batch.watermark_ahead(ahead)
        watermarks.append(watermark)
    return watermarks


def fence(connection: Connection, batches: list[ClaimedBatch]) -> None:
    """Lock the batches that are still this turn's, until the transaction ends; the others are marked lost."""
    ids, epochs = uuids(batch.batch_id for batch in batches), array(batch.epoch for batch in batches)
    kept = dict(map(tuple, connection.execute(FENCE, {"id": ids, "epoch": epochs}).all()))
    for batch in batches:
        batch.lost = batch.batch_id not in kept
        if not kept.get(batch.batch_id, True):
            batch.doubt_rows()


def write_rows(connection: Connection, batches: Iterable[ClaimedBatch], carrier: str) -> Changes:
    """Insert a row for each result that has none yet, and who is in doubt.

    The batches must be locked by this transaction. Returns what is to be added to the counters of their sends.
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
        add_of_messages(connection, lambda heard: moved_of(written, heard))
    return counted


def moved_of(written: Written, heard: frozenset[int]) -> Iterator[Moved]:
    """What the places of the slices became, by status and error; of accounts that listen."""
    for batch, positions in written:
        if batch.account_id in heard:
            alike: dict[tuple[MessageStatus, str | None], list[int]] = {}
            for position in positions:
                status, _, error, _, _ = batch.result(position)
                alike.setdefault((status, error), []).append(batch.indexes[position])
            for (status, error), indexes in alike.items():
                yield Moved(batch.account_id, batch.send_id, batch.batch_id, status, indexes, error)


def doubt_lines_of(batch: ClaimedBatch, positions: list[int], carrier: str) -> Iterator[str]:
    """The rows of `doubt` for those of the messages that are in doubt, as COPY reads them."""
    prefix, constant = short_prefix_of(batch.batch_id), f"{carrier}\t{field(batch.sender_id)}"
    for position in positions:
        if in_doubt(batch, position):
            at = batch.result(position).at
            name = f"{prefix}{batch.indexes[position]:04x}"
            yield f"{name}\t{constant}\t{batch.phones[position]}\t{at}\t{batch.expires_at}\n"


def forget_recorded(connection: Connection, batch: ClaimedBatch) -> None:
    """Strike from the unrecorded what has a row: the commit whose answer was lost had happened after all."""
    ids = MessageIds(batch.batch_id, [batch.indexes[position] for position in batch.unrecorded])
    known = {index_of(row.id) for row in connection.execute(KNOWN, {"ids": list(ids)})}
    batch.unrecorded = [position for position in batch.unrecorded if batch.indexes[position] not in known]
    batch.rows_uncertain = False


def in_doubt(batch: ClaimedBatch, position: int) -> bool:
    """Whether no answer came for the message."""
    return batch.result(position).status is IN_DOUBT


def record_lost(engine: Engine, batches: list[ClaimedBatch]) -> None:
    """Offer the results of lost batches as evidence on messages that their new owner put in doubt.

    All of them: rows that were recorded may have been undone by a crash of the database.
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
