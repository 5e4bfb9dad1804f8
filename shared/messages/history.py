"""Read messages. Messages with a result have a row; the status of the others follows from their batch.

Batches are read a few at a time and their recipients merged with the rows, so a list of any length needs the memory of
a few batches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Connection, Row, bindparam, select, text

from shared.carriers.receipts import carrier_reference
from shared.db.expressions import in_parameter
from shared.db.tables.messages import message
from shared.ids import batch_of, index_of, message_id
from shared.lifecycle import LANES, STORED_STATUSES, BatchState, MessageStatus
from shared.privacy.erasures import ERASED_PHONE
from shared.sends.archived import IS_ARCHIVED
from shared.sends.batch_prices import PRICE, SEGMENTS
from shared.sends.recipient_references import OWN_REFERENCES, own_reference

BATCHES_AT_ONCE = 20
ENDED = (BatchState.CANCELED, BatchState.EXPIRED)
"""Batch states that are also the status of the batch's messages without a row."""

COLUMNS = f"""
    SELECT b.id, b.send_id, s.account_id, b.state, b.size, b.recipients, b.next_index, b.retry_indexes, b.intent,
           b.watermark, LEAST(b.due_at, clock_timestamp()) AS ended_at, s.sender_id, {SEGMENTS} AS segments,
           {PRICE} AS price, s.reference, {OWN_REFERENCES.format(batch="b")} AS own_references, s.created_at, s.send_at,
           s.test, s.lane, s.group_id,
           s.state = 'scheduled' OR s.send_at > clock_timestamp() AS ahead
"""
OF_ACCOUNT = "s.account_id = :account"
"""SQL: the sends `s` of an account. What operators read of all accounts has no such condition."""
ONE_BATCH = f"""
    {COLUMNS} FROM send s JOIN batch b ON b.send_id = s.id
     WHERE s.forgotten_at IS NULL AND NOT {IS_ARCHIVED} AND b.id = :batch
"""
BATCH, ANY_BATCH = text(f"{ONE_BATCH} AND {OF_ACCOUNT}"), text(ONE_BATCH)
"""One batch, of an account or of any, with the same columns as BATCHES."""
HAS_STATUS = " OR ".join(
    [f"'{status}' = ANY(CAST(:statuses AS text[])) AND s.{status} > 0" for status in STORED_STATUSES]
    + [f":unfinished AND s.accepted > {' + '.join(f's.{status}' for status in STORED_STATUSES)}"]
)
"""SQL: whether, by its counters, a send `s` has messages with one of the statuses."""
SENDS = f"""
    s.id >= :since AND s.id < :until AND s.id <= :send
    AND (CAST(:reference AS text) IS NULL OR s.reference = :reference)
    AND (CAST(:group AS uuid) IS NULL OR s.group_id = :group)
    AND (CAST(:lane AS smallint) IS NULL OR s.lane = :lane)
    AND (CAST(:statuses AS text[]) IS NULL OR {HAS_STATUS})
"""
"""SQL: the sends `s` that a search reads, beginning at its cursor."""
FROM_BATCH = "(s.id < :send OR b.id >= :batch)"
FOUND = f"""
    {COLUMNS} FROM send s
     CROSS JOIN LATERAL (
        SELECT * FROM batch b
         WHERE b.send_id = s.id AND {FROM_BATCH} AND NOT {IS_ARCHIVED}
           AND (NOT :unfinished OR b.state NOT IN ('done', 'canceled', 'expired'))
           AND (CAST(:phone AS text) IS NULL OR position(:phone IN b.recipients) > 0)
           AND (s.id > :last_send OR s.id = :last_send AND b.id < :last_batch)
         ORDER BY b.id LIMIT :batches) AS b
     WHERE s.forgotten_at IS NULL AND s.id >= :last_send AND {SENDS}
"""
IN_ORDER = "ORDER BY s.id DESC, b.id LIMIT :batches"
BATCHES, ANY_BATCHES = text(f"{FOUND} AND {OF_ACCOUNT} {IN_ORDER}"), text(f"{FOUND} {IN_ORDER}")
"""Batches of an account or of all, always joined send by send, because one table holds those of all accounts. SQL, as
the bounds of a search (LAST_BATCH) have the same conditions."""
FIELDS: tuple[Column[Any], ...] = (
    *message.c["id", "submitted_at", "finished_at", "status", "price", "attempts", "carrier"],
    *message.c["route", "reference", "error", "answer_ms", "carrier_at", "carrier_at_precision"],
)
ROWS = select(*FIELDS).where(message.c.id > bindparam("low"), message.c.id <= bindparam("high"))
ROWS_OF = select(*FIELDS).where(in_parameter(message.c.id, "ids"))
ROW = select(*FIELDS).where(message.c.id == bindparam("id"))


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message, with the data that the API shows."""

    id: UUID
    send_id: UUID
    account_id: int
    phone: str | None
    """None if it was erased."""
    status: str
    sender_id: str
    segments: int
    cost: int
    reference: str | None
    """The recipient's own, or else that of the send."""
    test: bool
    category: str
    group_id: UUID | None
    created_at: datetime
    send_at: datetime | None
    error: str | None = None
    submitted_at: datetime | None = None
    answer_ms: int | None = None
    """Milliseconds until the carrier responded, or the wait for a response ended."""
    finished_at: datetime | None = None
    carrier_at: datetime | None = None
    """When it finished by the carrier's clock, with a precision of `precision` seconds."""
    precision: int | None = None
    carrier: str | None = None
    route: str | None = None
    carrier_reference: str | None = None
    attempts: int = 0
    own_reference: str | None = None
    """The recipient's own reference."""


def one_message(connection: Connection, account: int | None, identifier: UUID) -> MessageRow | None:
    """A message of the account, without one of any account; None if it does not exist or belongs to another account."""
    batch = batch_in_sight(connection, account, batch_of(identifier))
    if batch is None or not 1 <= index_of(identifier) <= batch.size:
        return None
    row = connection.execute(ROW, {"id": identifier}).one_or_none()
    return _merge(batch, index_of(identifier), batch.recipients.split("\n")[index_of(identifier) - 1], row)


def batch_in_sight(connection: Connection, account: int | None, batch: UUID) -> Row[Any] | None:
    """A batch with the columns of BATCHES, of the account or of any; None if its messages cannot be seen."""
    return connection.execute(ANY_BATCH if account is None else BATCH, {"batch": batch, "account": account}).first()


def batches_in_order(connection: Connection, parameters: dict[str, Any]) -> Iterator[Row[Any]]:
    """Yield batches ordered by send, descending, then batch, a few per query. `parameters` are those of BATCHES."""
    statement = ANY_BATCHES if parameters["account"] is None else BATCHES
    while True:
        rows = connection.execute(statement, {**parameters, "batches": BATCHES_AT_ONCE}).all()
        yield from rows
        if len(rows) < BATCHES_AT_ONCE:
            return
        parameters = {**parameters, "send": rows[-1].send_id, "batch": message_id(rows[-1].id, 1)}


def messages_of_batch(
    connection: Connection, batch: Row[Any], phone: str | None = None, indexes: Sequence[int] | None = None
) -> list[MessageRow]:
    """The messages of a batch in order, including those without a row; only those to a phone, or at the indexes."""
    phones = batch.recipients.split("\n")
    if phone is not None and indexes is None:
        indexes = [index for index, each in enumerate(phones, 1) if each == phone]
    if indexes is None:
        found = connection.execute(ROWS, {"low": batch.id, "high": message_id(batch.id, batch.size)})
        indexes = range(1, batch.size + 1)
    else:
        found = connection.execute(ROWS_OF, {"ids": [message_id(batch.id, index) for index in indexes]})
    rows = {index_of(row.id): row for row in found}
    return [_merge(batch, index, phones[index - 1], rows.get(index)) for index in indexes]


def _merge(batch: Row[Any], index: int, phone: str, row: Row[Any] | None) -> MessageRow:
    status = row.status if row is not None else _status_without_row(batch, index)
    free = status in (MessageStatus.REJECTED, MessageStatus.FAILED, MessageStatus.CANCELED, MessageStatus.EXPIRED)
    price = batch.price if row is None else row.price
    own = own_reference(batch.own_references, index)
    return MessageRow(
        id=message_id(batch.id, index),
        send_id=batch.send_id,
        account_id=batch.account_id,
        phone=None if phone == ERASED_PHONE else phone,
        status=status,
        sender_id=batch.sender_id,
        segments=batch.segments,
        cost=0 if free else price,
        reference=own or batch.reference,
        own_reference=own,
        test=batch.test,
        category=LANES[batch.lane],
        group_id=batch.group_id,
        created_at=batch.created_at,
        send_at=batch.send_at,
        **(_of_row(batch, row) if row is not None else {"finished_at": batch.ended_at if status in ENDED else None}),
    )


def _of_row(batch: Row[Any], row: Row[Any]) -> dict[str, Any]:
    """The message's data from its row. Clocks differ between hosts, so times are clamped to keep their order."""
    submitted_at = max(row.submitted_at, batch.created_at)
    return {
        "error": row.error,
        "submitted_at": submitted_at if row.attempts else None,
        "finished_at": row.finished_at and max(row.finished_at, submitted_at),
        "answer_ms": row.answer_ms,
        "carrier_at": row.carrier_at,
        "precision": row.carrier_at_precision,
        "carrier": row.carrier,
        "route": row.route,
        "carrier_reference": carrier_reference(row.reference),
        "attempts": row.attempts,
    }


def _status_without_row(batch: Row[Any], index: int) -> str:
    """The status of a message that has no row yet."""
    if batch.state in ENDED:
        return str(batch.state)
    if batch.state == BatchState.SENDING:
        retry_indexes = list(batch.retry_indexes or [])
        intent = retry_indexes if retry_indexes else range(batch.next_index, batch.next_index + batch.intent)
        return MessageStatus.SENDING if index in intent[: batch.watermark] else MessageStatus.QUEUED
    return MessageStatus.SCHEDULED if batch.ahead else MessageStatus.QUEUED
