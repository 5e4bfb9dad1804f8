"""Records what carriers answered. Fence intents, accept evidence.

A worker that lost its lease may not submit another message, but what it learned is a fact: it is recorded all the
same, where the batch's new owner has meanwhile put the message in doubt.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, Engine, text

from shared.crashpoints import crashpoint
from shared.database import STARTED, array, copy_rows, field, transaction, uuids
from shared.events import Moved, add_of_messages
from shared.ids import MessageIds, index_of, short_prefix_of
from shared.lifecycle import MessageStatus
from shared.receipts import by_destination
from shared.sendable import GOES_ON
from worker.counts import Changes, add_to_sends
from worker.doubt import Resolution, resolve
from worker.slices import Slice

MESSAGE_COLUMNS = "id, phone, submitted_at, finished_at, status, price, attempts, carrier, route, reference, error"
SENT, IN_DOUBT = MessageStatus.SENT, MessageStatus.IN_DOUBT
DOUBT_COLUMNS = "message_id, carrier, sender_id, phone, submitted_at, expires_at"

HELD = "b.id = w.id AND b.epoch = CASE WHEN b.intent > 0 THEN w.epoch END"
"""A batch `b` is the one of `w`, and still in the turn of that epoch. In one condition: Postgres takes the batches of
turns for few, from the statistics or from their own index, and would look through all of them for each of `w`."""

ADVANCE = text(
    f"""
    UPDATE batch b
       SET watermark = CASE WHEN {GOES_ON} THEN GREATEST(b.watermark, LEAST(w.watermark, b.intent))
                            ELSE b.watermark END,
           lease_until = clock_timestamp() + make_interval(secs => :lease)
      FROM unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[]), CAST(:watermark AS int[])) AS w (id, epoch, watermark),
           send s
     WHERE {HELD} AND s.id = b.send_id
    RETURNING b.id, b.database_started = {STARTED} AS same_start, {GOES_ON} AS goes_on
    """
)

KNOWN = text("SELECT id FROM message WHERE id = ANY(:ids)")

FENCE = text(
    f"""
    SELECT b.id, b.database_started = {STARTED} AS same_start
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[])) AS w (id, epoch)
        ON {HELD}
     ORDER BY b.id FOR UPDATE OF b
    """
)


def advance(engine: Engine, slices: list[Slice], ahead: int, carrier: str, lease: float) -> None:
    """Record what is known so far, and let the next messages leave: one commit, which need not reach the disk.

    A message in doubt is not recorded before its intent is closed, so whatever is written here only moves by receipts.

    The watermark is put `ahead` messages beyond those that have a result, so that no crash of this process can leave
    more than that in doubt. Renews the lease of `lease` seconds. A batch that is another worker's by now is marked
    lost, one whose send may not go on is marked halted: nothing more of them may leave.
    """
    held = [piece for piece in slices if not piece.lost]
    watermarks = watermarks_ahead(held, ahead)
    with transaction(engine, durable=False) as connection:
        rows = connection.execute(
            ADVANCE,
            {
                "id": uuids(piece.batch_id for piece in held),
                "epoch": array(piece.epoch for piece in held),
                "watermark": array(watermarks),
                "lease": lease,
            },
        )
        kept = {row.id: row for row in rows}
        recorded = [piece for piece in held if piece.batch_id in kept]
        for piece in recorded:
            if not kept[piece.batch_id].same_start:
                piece.doubt_rows()
        add_to_sends(connection, write_rows(connection, recorded, carrier, doubts=False))
        crashpoint("advance.before_commit")
    crashpoint("advance.committed")
    for piece, watermark in zip(held, watermarks, strict=True):
        row = kept.get(piece.batch_id)
        if row is None:
            piece.lost = True
            continue
        piece.halted = piece.wait > 0 or not row.goes_on
        piece.watermark = piece.watermark if piece.halted else watermark
        piece.unrecorded = [place for place in piece.unrecorded if in_doubt(piece, place)]
    record_lost(engine, slices)


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


def write_rows(connection: Connection, slices: Iterable[Slice], carrier: str, *, doubts: bool) -> Changes:
    """Insert a row for each result that has none yet; those in doubt only with `doubts`.

    The batches must be locked by this transaction. Returns what is to be added to the counters of their sends.
    """
    lines: list[str] = []
    doubt_lines: list[str] = []
    counted: Changes = {}
    written: list[tuple[Slice, list[int]]] = []
    for piece in slices:
        if piece.unsure:
            forget_recorded(connection, piece)
        places = piece.unrecorded if doubts else [place for place in piece.unrecorded if not in_doubt(piece, place)]
        if places:
            statuses: Counter[str] = Counter([piece.result(place).status for place in places])
            counted[piece.send_id] = counted[piece.send_id] + statuses if piece.send_id in counted else statuses
            lines += message_lines(piece, places, carrier)
            if IN_DOUBT in statuses:
                doubt_lines += doubt_lines_of(piece, places, carrier)
            written.append((piece, places))
    if lines:
        copy_rows(connection, "message", MESSAGE_COLUMNS, "".join(lines))
    if doubt_lines:
        copy_rows(connection, "doubt", DOUBT_COLUMNS, "".join(doubt_lines))
    if written:
        add_of_messages(connection, lambda heard: moved_of(written, heard))
    return counted


def moved_of(written: list[tuple[Slice, list[int]]], heard: frozenset[int]) -> Iterator[Moved]:
    """What the places of the slices became, by status and error; of accounts that listen."""
    for piece, places in written:
        if piece.account_id in heard:
            alike: dict[tuple[MessageStatus, str | None], list[int]] = {}
            for place in places:
                status, _, error, _, _ = piece.result(place)
                alike.setdefault((status, error), []).append(piece.indexes[place])
            for (status, error), indexes in alike.items():
                yield Moved(piece.account_id, piece.send_id, piece.batch_id, status, indexes, error)


def message_lines(piece: Slice, places: list[int], carrier: str) -> Iterator[str]:
    """The rows of the messages, as COPY reads them. The first case is nearly all of them."""
    prefix, indexes, phones = short_prefix_of(piece.batch_id), piece.indexes, piece.phones
    carrier = f"{carrier}\t{field(piece.route)}"
    carried = f"{piece.price}\t1\t{carrier}"
    for place in places:
        status, reference, error, at, attempts = piece.result(place)
        name = f"{prefix}{indexes[place]:04x}\t{phones[place]}\t{at}"
        if status is SENT and attempts == 1 and error is None:
            yield f"{name}\t\\N\tsent\t{carried}\t{field(reference or by_destination(phones[place]))}\t\\N\n"
        else:
            finished = r"\N" if status in (SENT, IN_DOUBT) else at
            reference = by_destination(phones[place]) if status is SENT and reference is None else reference
            rest = f"{piece.price}\t{attempts}\t{carrier}\t{field(reference)}\t{field(error)}"
            yield f"{name}\t{finished}\t{status}\t{rest}\n"


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
