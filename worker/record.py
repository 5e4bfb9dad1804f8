"""Records what carriers answered. Fence intents, accept evidence.

A worker that lost its lease may not submit another message, but what it learned is a fact: it is recorded all the
same, where the batch's new owner has meanwhile put the message in doubt.
"""

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from shared.crashpoints import crashpoint
from shared.database import STARTED, copy_rows, transaction
from shared.ids import index_of, message_id, prefix_of
from shared.lifecycle import MessageStatus
from worker.claim import Slice
from worker.counts import add_to_sends
from worker.doubt import Resolution, resolve

MESSAGE_COLUMNS = "id, phone, submitted_at, finished_at, status, price, attempts, carrier, reference, error"
DOUBT_COLUMNS = "message_id, carrier, sender_id, phone, submitted_at, expires_at"

ADVANCE = text(
    f"""
    UPDATE batch b
       SET watermark = GREATEST(b.watermark, LEAST(w.watermark, b.intent)),
           lease_until = clock_timestamp() + make_interval(secs => :lease)
      FROM unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:watermark AS int[])) AS w (id, epoch, watermark)
     WHERE b.id = w.id AND b.epoch = w.epoch AND b.state = 'sending'
    RETURNING b.id, b.database_started = {STARTED} AS same_start
    """
)

KNOWN = text("SELECT id FROM message WHERE id = ANY(:ids)")

FENCE = text(
    f"""
    SELECT b.id, b.database_started = {STARTED} AS same_start
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[])) AS w (id, epoch)
        ON b.id = w.id AND b.epoch = w.epoch AND b.state = 'sending'
     ORDER BY b.id FOR UPDATE OF b
    """
)


def advance(engine: Engine, slices: list[Slice], ahead: int, carrier: str, lease: float) -> None:
    """Record what is known so far, and let the next messages leave: one commit, which need not reach the disk.

    A message in doubt is not recorded before its intent is closed, so whatever is written here only moves by receipts.

    The watermark is put `ahead` messages beyond those that have a result, so that no crash of this process can leave
    more than that in doubt. Renews the lease of `lease` seconds. A batch that is another worker's by now is marked
    lost.
    """
    held = [piece for piece in slices if not piece.lost]
    watermarks = watermarks_ahead(held, ahead)
    with transaction(engine, durable=False) as connection:
        rows = connection.execute(
            ADVANCE,
            {
                "id": [piece.batch_id for piece in held],
                "epoch": [piece.epoch for piece in held],
                "watermark": watermarks,
                "lease": lease,
            },
        )
        kept = {row.id: row.same_start for row in rows}
        recorded = [piece for piece in held if piece.batch_id in kept]
        for piece in recorded:
            if not kept[piece.batch_id]:
                piece.doubt_rows()
        write_rows(connection, recorded, carrier, doubts=False)
        crashpoint("advance.before_commit")
    crashpoint("advance.committed")
    for piece, watermark in zip(held, watermarks, strict=True):
        if piece.batch_id in kept:
            piece.watermark = watermark
            piece.unrecorded = [index for index in piece.unrecorded if in_doubt(piece, index)]
        else:
            piece.lost = True
    record_lost(engine, slices)


def watermarks_ahead(slices: list[Slice], ahead: int) -> list[int]:
    """Each slice's watermark when `ahead` messages in all, of those that have no result, may be on their way.

    Results may stand anywhere: who has opted out has one from the beginning.
    """
    watermarks = []
    for piece in slices:
        waiting = [place for place, index in enumerate(piece.indexes, 1) if index not in piece.results]
        watermark = len(piece.indexes) if len(waiting) <= ahead else waiting[ahead - 1] if ahead else 0
        ahead -= min(ahead, len(waiting))
        watermarks.append(max(piece.watermark, watermark))
    return watermarks


def fence(connection: Connection, slices: list[Slice]) -> None:
    """Lock the batches that are still this turn's, until the transaction ends; the others are marked lost."""
    rows = connection.execute(
        FENCE, {"id": [piece.batch_id for piece in slices], "epoch": [piece.epoch for piece in slices]}
    )
    kept = {row.id: row.same_start for row in rows}
    for piece in slices:
        piece.lost = piece.batch_id not in kept
        if not kept.get(piece.batch_id, True):
            piece.doubt_rows()


def write_rows(connection: Connection, slices: Iterable[Slice], carrier: str, *, doubts: bool) -> None:
    """Insert a row for each result that has none yet, and count it at its send; those in doubt only with `doubts`.

    The batches must be locked by this transaction.
    """
    lines: list[str] = []
    doubt_lines: list[str] = []
    counted: dict[UUID, Counter[str]] = {}
    for piece in slices:
        if piece.unsure:
            forget_recorded(connection, piece)
        if piece.unrecorded:
            counter = counted.setdefault(piece.send_id, Counter())
        prefix = prefix_of(piece.batch_id)
        phones = dict(zip(piece.indexes, piece.phones, strict=True)) if piece.unrecorded else {}
        for index in piece.unrecorded:
            status, reference, error, at, attempts = piece.results[index]
            if status == MessageStatus.IN_DOUBT and not doubts:
                continue
            counter[status] += 1
            finished = r"\N" if status in (MessageStatus.SENT, MessageStatus.IN_DOUBT) else str(at)
            lines.append(
                f"{prefix}{index:04x}\t{phones[index]}\t{at}\t{finished}\t{status}\t{piece.price}\t{attempts}"
                f"\t{carrier}\t{field(reference)}\t{field(error)}\n"
            )
            if status == MessageStatus.IN_DOUBT:
                doubt_lines.append(
                    f"{prefix}{index:04x}\t{carrier}\t{field(piece.sender_id)}\t{phones[index]}\t{at}"
                    f"\t{piece.expires_at}\n"
                )
    if lines:
        copy_rows(connection, "message", MESSAGE_COLUMNS, "".join(lines))
    if doubt_lines:
        copy_rows(connection, "doubt", DOUBT_COLUMNS, "".join(doubt_lines))
    add_to_sends(connection, counted)


def forget_recorded(connection: Connection, piece: Slice) -> None:
    """Strike from the unrecorded what has a row: the commit whose answer was lost had happened after all."""
    ids = [message_id(piece.batch_id, index) for index in piece.unrecorded]
    known = {index_of(row.id) for row in connection.execute(KNOWN, {"ids": ids})}
    piece.unrecorded = [index for index in piece.unrecorded if index not in known]
    piece.unsure = False


def in_doubt(piece: Slice, index: int) -> bool:
    """Whether no answer came for the message."""
    return piece.results[index].status == MessageStatus.IN_DOUBT


def record_lost(engine: Engine, slices: list[Slice]) -> None:
    """Offer the results of lost batches as evidence on messages that their new owner put in doubt.

    All of them: rows that were recorded may have been undone by a crash of the database.
    """
    lost = [piece for piece in slices if piece.lost and piece.results]
    evidence = [
        Resolution(message_id(piece.batch_id, index), *result[:3])
        for piece in lost
        for index, result in piece.results.items()
        if result.status != MessageStatus.IN_DOUBT
    ]
    if evidence:
        with transaction(engine) as connection:
            resolve(connection, evidence)
    for piece in lost:
        piece.results.clear()
        piece.unrecorded.clear()


def field(value: str | None) -> str:
    """A text as COPY reads it: NULL and the characters that end a field or line are escaped."""
    if value is None:
        return r"\N"
    if value.isalnum() and value.isascii():
        return value
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "")
