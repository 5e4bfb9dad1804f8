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
from shared.db.connection import OFF_DISK, STARTED, array, copy_rows, field, off_disk, transaction, uuids
from shared.ids import MessageIds, index_of, short_prefix_of
from shared.lifecycle import MessageStatus
from shared.outbox import Moved, add_of_messages, listening
from shared.sends.sendable import GOES_ON
from worker.receipts.in_doubt import Resolution, resolve
from worker.send_counters import Changes
from worker.sending.claimed_batch import Slice
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
    SELECT id, same_start, goes_on, opted_out, {OFF_DISK} FROM moved
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
    engine: Engine, slices: list[Slice], ahead: int, carrier: str, lease: float, list_read: str | None = None
) -> None:
    """Record what is known so far, and let the next messages leave: one commit, which need not reach the disk.

    A message in doubt is not recorded before its intent is closed, so whatever is written here only moves by receipts.

    The watermark is put `ahead` messages beyond those that have a result, so that no crash of this process can leave
    more than that in doubt. Renews the lease of `lease` seconds. A batch that is another worker's by now is marked
    lost, one whose send may not go on is marked halted: nothing more of them may leave. Halted are all where the
    database has begun anew: what is recorded here might be gone as well, and the settlement is on disk. Marked is also
    whose account has opt-outs that the snapshot `list_read` did not see.
    """
    held = [piece for piece in slices if not piece.lost]
    watermarks, parts = watermarks_ahead(held, ahead), [now_and_later(piece) for piece in held]
    written = [(piece, now) for piece, (now, _) in zip(held, parts, strict=True)]
    kept = _record(engine, written, watermarks, carrier, lease, list_read)
    crashpoint("advance.committed")
    for piece, watermark, (_, later) in zip(held, watermarks, parts, strict=True):
        row = kept.get(piece.batch_id)
        if row is None:
            piece.lost = True
            continue
        piece.opted_out = row.opted_out
        piece.halted = piece.wait > 0 or not (row.goes_on and row.same_start)
        piece.watermark = piece.watermark if piece.halted else watermark
        piece.unrecorded = later
        if not row.same_start:
            piece.doubt_rows()
    record_lost(engine, slices)


def _record(
    engine: Engine, written: Written, watermarks: list[int], carrier: str, lease: float, list_read: str | None
) -> dict[UUID, Row[Any]]:
    """Move the watermarks and write the rows. Returns what there is to know of each batch that is still this turn's."""
    parameters = {
        "id": uuids(piece.batch_id for piece, _ in written),
        "epoch": array(piece.epoch for piece, _ in written),
        "watermark": array(watermarks),
        "lease": lease,
        "list_read": list_read,
        **counts_of(written),
        **parameters_of(written, carrier),
    }
    with off_disk(engine) as connection:
        heard = listening(connection)
        if not any(piece.account_id in heard for piece, places in written if places):
            return {row.id: row for row in connection.execute(ADVANCE, parameters)}
    with transaction(engine, durable=False) as connection:
        kept = {row.id: row for row in connection.execute(ADVANCE, parameters)}
        sure = [each for each in written if (row := kept.get(each[0].batch_id)) and row.same_start]
        add_of_messages(connection, lambda heard: moved_of(sure, heard))
        crashpoint("advance.before_commit")
    return kept


def now_and_later(piece: Slice) -> tuple[list[int], list[int]]:
    """The unrecorded places that may be recorded now, and those of the settlement.

    That is who is in doubt, and everything where it is first to be seen which rows there are.
    """
    if piece.unsure:
        return [], piece.unrecorded
    now = [place for place in piece.unrecorded if not in_doubt(piece, place)]
    if len(now) == len(piece.unrecorded):
        return now, []
    return now, [place for place in piece.unrecorded if in_doubt(piece, place)]


def counts_of(written: Written) -> dict[str, str]:
    """The results of each slice by status, as parameters."""
    found = [[piece.result(place).status for place in places] for piece, places in written]
    return {str(status): array([statuses.count(status) for statuses in found]) for status in RECORDED}


def watermarks_ahead(slices: list[Slice], ahead: int) -> list[int]:
    """Each slice's watermark when `ahead` messages in all, of those that have no result, may be on their way."""
    watermarks = []
    for piece in slices:
        watermark = piece.watermark
        if not piece.wait:
            watermark, ahead = piece.watermark_ahead(ahead)
        watermarks.append(watermark)
    return watermarks


def fence(connection: Connection, slices: list[Slice]) -> None:
    """Lock the batches that are still this turn's, until the transaction ends; the others are marked lost."""
    batches, epochs = uuids(piece.batch_id for piece in slices), array(piece.epoch for piece in slices)
    kept = dict(map(tuple, connection.execute(FENCE, {"id": batches, "epoch": epochs}).all()))
    for piece in slices:
        piece.lost = piece.batch_id not in kept
        if not kept.get(piece.batch_id, True):
            piece.doubt_rows()


def write_rows(connection: Connection, slices: Iterable[Slice], carrier: str) -> Changes:
    """Insert a row for each result that has none yet, and who is in doubt.

    The batches must be locked by this transaction. Returns what is to be added to the counters of their sends.
    """
    doubt_lines: list[str] = []
    counted: Changes = {}
    written: Written = []
    for piece in slices:
        if piece.unsure:
            forget_recorded(connection, piece)
        places = piece.unrecorded
        if places:
            statuses: Counter[str] = Counter([piece.result(place).status for place in places])
            counted[piece.send_id] = counted[piece.send_id] + statuses if piece.send_id in counted else statuses
            if IN_DOUBT in statuses:
                doubt_lines += doubt_lines_of(piece, places, carrier)
            written.append((piece, places))
    if doubt_lines:
        copy_rows(connection, "doubt", DOUBT_COLUMNS, "".join(doubt_lines))
    if written:
        insert_rows(connection, written, carrier)
        add_of_messages(connection, lambda heard: moved_of(written, heard))
    return counted


def moved_of(written: Written, heard: frozenset[int]) -> Iterator[Moved]:
    """What the places of the slices became, by status and error; of accounts that listen."""
    for piece, places in written:
        if piece.account_id in heard:
            alike: dict[tuple[MessageStatus, str | None], list[int]] = {}
            for place in places:
                status, _, error, _, _ = piece.result(place)
                alike.setdefault((status, error), []).append(piece.indexes[place])
            for (status, error), indexes in alike.items():
                yield Moved(piece.account_id, piece.send_id, piece.batch_id, status, indexes, error)


def doubt_lines_of(piece: Slice, places: list[int], carrier: str) -> Iterator[str]:
    """The rows of `doubt` for those of the messages that are in doubt, as COPY reads them."""
    prefix, constant = short_prefix_of(piece.batch_id), f"{carrier}\t{field(piece.sender_id)}"
    for place in places:
        if in_doubt(piece, place):
            at = piece.result(place).at
            name = f"{prefix}{piece.indexes[place]:04x}"
            yield f"{name}\t{constant}\t{piece.phones[place]}\t{at}\t{piece.expires_at}\n"


def forget_recorded(connection: Connection, piece: Slice) -> None:
    """Strike from the unrecorded what has a row: the commit whose answer was lost had happened after all."""
    ids = MessageIds(piece.batch_id, [piece.indexes[place] for place in piece.unrecorded])
    known = {index_of(row.id) for row in connection.execute(KNOWN, {"ids": list(ids)})}
    piece.unrecorded = [place for place in piece.unrecorded if piece.indexes[place] not in known]
    piece.unsure = False


def in_doubt(piece: Slice, place: int) -> bool:
    """Whether no answer came for the message."""
    return piece.result(place).status is IN_DOUBT


def record_lost(engine: Engine, slices: list[Slice]) -> None:
    """Offer the results of lost batches as evidence on messages that their new owner put in doubt.

    All of them: rows that were recorded may have been undone by a crash of the database.
    """
    lost = [piece for piece in slices if piece.lost]
    evidence = [
        Resolution(identifier, *result[:3])
        for piece in lost
        for identifier, result in zip(MessageIds(piece.batch_id, piece.indexes), piece.results, strict=True)
        if result is not None and result.status is not IN_DOUBT
    ]
    if evidence:
        with transaction(engine) as connection:
            resolve(connection, evidence)
    for piece in lost:
        piece.forget()
