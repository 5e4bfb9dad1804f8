"""Writes the results of messages: rows, doubts, failed attempts, and the evidence of a cycle that lost its lease."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, Engine, select, text

from shared.carriers.error_codes import says_opted_out
from shared.contacts.suppressions import suppress_by_carrier
from shared.db.connection import STARTED, array, copy_rows, field, texts, transaction, uuids
from shared.db.expressions import in_parameter
from shared.db.tables import messages as tables
from shared.doubts.resolution import Resolution, resolve
from shared.ids import MessageIds, index_of, prefix_of
from shared.lifecycle import MessageStatus
from shared.outbox import StatusChange, add_of_messages
from shared.sends.counters import Changes
from worker.receipts.late_responses import conclusive
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.settle_complete import COLUMNS, ROWS, Written, parameters_of

IN_DOUBT, REJECTED = MessageStatus.IN_DOUBT, MessageStatus.REJECTED

DOUBT_COLUMNS = "message_id, carrier, sender_id, phone, submitted_at, expires_at"

IN_CYCLE = "b.id = w.id AND b.epoch = CASE WHEN b.intent > 0 THEN w.epoch END"
"""SQL: batch `b` is the one of `w`, and still in the cycle of that epoch. This is one condition, or Postgres would
take claimed batches for few, and look through all of them for each row of `w`."""

INSERT = text(f"INSERT INTO message ({COLUMNS}) {ROWS}")
"""Inserts the rows of a window by arrays, the fastest way measured for hundreds of rows. The primary key refuses a
second result of a message."""

MESSAGES = tables.message.c
KNOWN = select(MESSAGES.id).where(in_parameter(MESSAGES.id, "ids"))

INSERT_ATTEMPTS = text(
    """
    INSERT INTO attempt (message_id, submitted_at, answer_ms, answer, carrier, route, error)
    SELECT message, at, answer_ms, 'failed', :carrier, route, error
      FROM unnest(CAST(:message AS uuid[]), CAST(:at AS timestamptz[]), CAST(:answer_ms AS int[]),
                  CAST(:route AS text[]), CAST(:error AS text[])) AS f (message, at, answer_ms, route, error)
    ON CONFLICT (message_id, submitted_at) DO NOTHING
    """
)
"""Records each attempt once, also if a cycle repeats its transaction."""

FENCE = text(
    f"""
    SELECT b.id, b.database_started = {STARTED} AS same_start
      FROM batch b JOIN unnest(CAST(:id AS uuid[]), CAST(:epoch AS int[])) AS w (id, epoch)
        ON {IN_CYCLE}
     ORDER BY b.id FOR UPDATE OF b
    """
)
"""Locks the batches whose epoch is still this cycle's. A batch that recovery has taken is missing from the result, so
nothing of it is recorded twice. The locks are taken in the order of ids, as everywhere."""


def fence(connection: Connection, batches: list[ClaimedBatch]) -> None:
    """Lock the batches that this cycle still owns, for the rest of the transaction. Marks the others as lost."""
    ids, epochs = uuids(batch.batch_id for batch in batches), array(batch.epoch for batch in batches)
    owned = dict(map(tuple, connection.execute(FENCE, {"id": ids, "epoch": epochs}).all()))
    for batch in batches:
        batch.lost = batch.batch_id not in owned
        if not owned.get(batch.batch_id, True):
            batch.mark_rows_uncertain()


def write_rows(connection: Connection, batches: Iterable[ClaimedBatch], carrier: str) -> Changes:
    """Insert the missing rows, doubts included, and the opt-outs that the carrier reports. Returns the increments of
    the sends' counters.

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
        connection.execute(INSERT, parameters_of(written, carrier))
        if suppressed := opted_out(written):
            suppress_by_carrier(connection, suppressed)
        add_of_messages(connection, lambda listeners: moved_of(written, listeners))
    return counted


def opted_out(written: Written) -> list[tuple[int, str]]:
    """The account and the phone of each message whose carrier says that the person has opted out."""
    return [
        (batch.account_id, batch.phones[position])
        for batch, positions in written
        for position in positions
        if (result := batch.result(position)).status is REJECTED and says_opted_out(result.error)
    ]


def write_failed_attempts(connection: Connection, batches: Sequence[ClaimedBatch], carrier: str) -> None:
    """Record failed attempts of messages that are sent again, also those of lost batches. Each is recorded once.

    The last attempt of a message is in its own row.
    """
    failed = [(batch, each) for batch in batches for each in batch.failed]
    if not failed:
        return
    connection.execute(
        INSERT_ATTEMPTS,
        {
            "carrier": carrier,
            "message": array(f"{prefix_of(batch.batch_id)}{each.message:04x}" for batch, each in failed),
            "at": array(f'"{each.at}"' for _, each in failed),
            "answer_ms": array(batch.answer_ms.get(each.at, 0) for batch, each in failed),
            "route": texts(batch.route for batch, _ in failed),
            "error": texts(each.error for _, each in failed),
        },
    )


def moved_of(written: Written, listeners: frozenset[int]) -> Iterator[StatusChange]:
    """The new states of messages, by status and error, for accounts in `listeners`."""
    for batch, positions in written:
        if batch.account_id in listeners:
            alike: dict[tuple[MessageStatus, str | None], list[int]] = {}
            for position in positions:
                status, _, error, _, _ = batch.result(position)
                alike.setdefault((status, error), []).append(batch.indexes[position])
            for (status, error), indexes in alike.items():
                yield StatusChange(batch.account_id, batch.send_id, batch.batch_id, status, indexes, error)


def doubt_lines_of(batch: ClaimedBatch, positions: list[int], carrier: str) -> Iterator[str]:
    """Rows of `doubt` for the messages in doubt, in COPY's text format."""
    prefix, constant = prefix_of(batch.batch_id), f"{carrier}\t{field(batch.sender_id)}"
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

    Includes recorded results: a crash of the database may have undone their rows. Refusals must be `conclusive`.
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
            resolve(connection, conclusive(connection, evidence))
    for batch in lost:
        batch.forget()
