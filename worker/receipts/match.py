"""Matches delivery receipts to their messages and applies them, exactly once in effect, in any order.

A receipt is matched by the carrier's message id, and by the phone if the receipt names it. An unmatched receipt is
early (its submit's result is not recorded yet), about a message in doubt, or not ours. It is kept in `receipt` and
retried, and `worker.receipts.match_doubts` resolves doubts by it. A status only moves forward.
"""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Interval, Row, bindparam, delete, func, select, text

from shared.carriers.error_codes import says_opted_out
from shared.carriers.receipts import Receipt, ReceiptKey, by_destination, columns, keep, rank
from shared.contacts.suppressions import suppress_by_carrier
from shared.crashpoints import crashpoint
from shared.db.connection import array, transaction
from shared.db.expressions import in_parameter
from shared.db.tables import messages as tables
from shared.ids import LAST_NUMBER, first_id_at
from shared.lifecycle import ALLOWED_TRANSITIONS, MessageStatus
from shared.observability import traces
from shared.outbox import StatusChange, add_of_messages, listening
from shared.sends.counters import MessageCounts, add_to_sends, count_delays, count_messages
from shared.sms.countries import PREFIX_DIGITS
from worker.carriers.base import PARTLY_SENT
from worker.receipts.match_without_id import RECENT, fitting_by_phone
from worker.receipts.other_forms import in_other_forms
from worker.receipts.receipt_trace import trace_receipts

DELAY = "CAST(extract(epoch FROM m.finished_at - m.submitted_at) AS float8)"
FINAL = ALLOWED_TRANSITIONS[MessageStatus.SENT]
MOVES = ", ".join(
    f"('{before}', '{after}')"
    for before in (MessageStatus.SENT, MessageStatus.UNDELIVERED)
    for after in sorted(ALLOWED_TRANSITIONS[before])
)
"""SQL: the changes of status that a receipt may make. It resolves a doubt in another way (match_doubts.py)."""
PAGE, MAX_PAGES = 1000, 10

APPLY = text(
    f"""
    WITH given AS (
        SELECT * FROM unnest(CAST(:reference AS text[]), CAST(:phone AS bigint[]), CAST(:status AS message_status[]),
                             CAST(:error AS text[]), CAST(:done_at AS timestamptz[]),
                             CAST(:precision AS smallint[]), CAST(:received_at AS timestamptz[]))
                      AS w (reference, phone, status, error, done_at, precision, received_at)
    ), meant AS (
        SELECT DISTINCT ON (w.reference, w.phone) m.id, w.phone AS named, w.status, w.error, w.done_at, w.precision,
               w.received_at
          FROM given w JOIN message m ON m.reference = w.reference AND m.carrier = :carrier
         WHERE m.phone = w.phone
            OR (w.phone IS NULL OR CAST(m.phone AS text) LIKE '%' || CAST(w.phone AS text))
               AND NOT EXISTS (SELECT FROM message o WHERE o.reference = w.reference
                                  AND o.carrier = :carrier AND o.id <> m.id)
         ORDER BY w.reference, w.phone, m.status <> 'sent', (m.status, w.status) NOT IN ({MOVES}), m.id
    ), single AS (
        SELECT DISTINCT ON (id) * FROM meant ORDER BY id, status DESC
    ), found AS (
        SELECT m.id, m.reference, m.phone, m.status AS before, w.named, w.status, w.error, w.done_at, w.precision,
               w.received_at
          FROM single w JOIN message m ON m.id = w.id
         ORDER BY m.id FOR UPDATE OF m
    ), moved AS (
        UPDATE message m SET status = f.status, error = f.error,
                             finished_at = GREATEST(coalesce(f.received_at, now()), m.submitted_at),
                             carrier_at = CASE WHEN f.precision IS NOT NULL THEN f.done_at END,
                             carrier_at_precision = f.precision
          FROM found f
         WHERE m.id = f.id AND (f.before, f.status) IN ({MOVES}) AND m.error IS DISTINCT FROM '{PARTLY_SENT}'
        RETURNING m.id, {DELAY} AS delay
    )
    SELECT f.id, f.reference, f.phone, f.named, f.before, f.status, f.error, b.send_id, b.account_id, b.lane,
           v.id IS NOT NULL AS moved, v.delay
      FROM found f LEFT JOIN moved v ON v.id = f.id LEFT JOIN batch b ON b.id = batch_of(v.id)
    """
)
"""One statement: it locks the messages in the order of their ids. A status only moves forward; `partly_sent` is final.

If a carrier has given an id to several messages of a phone, a receipt is for the oldest that waits for one. If the
receipt names no phone, or a number that only ends like the message's (a national one), its id must be unique."""

FAST_PATH = f"""
    WITH given AS (
        SELECT * FROM unnest(CAST(:reference AS text[]), CAST(:phone AS bigint[]), CAST(:done_at AS float8[]))
                      AS w (reference, phone, done_at)
    ), moved AS (
        UPDATE message m SET status = CAST(:status AS message_status), error = CAST(:error AS text),
                             finished_at = GREATEST(now(), m.submitted_at),
                             carrier_at = CASE WHEN CAST(:precision AS smallint) IS NOT NULL
                                               THEN to_timestamp(w.done_at) END,
                             carrier_at_precision = CAST(:precision AS smallint)
          FROM given w
         WHERE m.reference = w.reference AND m.phone = w.phone AND m.id > CAST(:since AS uuid)
           AND coalesce(m.status = 'sent' AND m.carrier = :carrier, false)
        RETURNING m.id, m.reference, {DELAY} AS delay
    )
    SELECT b.send_id, b.account_id, b.lane, m.*
      FROM (SELECT batch_of(id) AS batch, array_agg(reference) AS found,
                   array_agg(delay) AS delays {{also}} FROM moved GROUP BY 1) m
      JOIN batch b ON b.id = m.batch
"""
APPLY_FAST_PATH, APPLY_FAST_PATH_INDEXES = (
    text(FAST_PATH.format(also=also)) for also in ("", ", array_agg(right(CAST(id AS text), 4)) AS indexes")
)
"""For recent messages, which are in few partitions. `coalesce` hides its condition from the planner: without statistics
on a partition, the planner would assume so few matching rows that it reads all of them for each receipt."""

RECEIPTS = tables.receipt.c
UNMATCHED_COLUMNS = RECEIPTS[
    "id", "carrier", "reference", "phone", "status", "error", "done_at", "sender_id", "precision", "received_at"
]
UNMATCHED = (
    select(*UNMATCHED_COLUMNS)
    .where(RECEIPTS.received_at > func.now() - bindparam("newest", type_=Interval), RECEIPTS.id < bindparam("before"))
    .order_by(RECEIPTS.id.desc())
    .limit(bindparam("page"))
    .with_for_update(skip_locked=True)
)
DROP_MATCHED = delete(tables.receipt).where(in_parameter(RECEIPTS.id, "ids"))


class _Repeated(Exception):
    """The fast path has moved several messages of one phone by one receipt, as the carrier gave them the same id."""


def record(engine: Engine, carrier: str, receipts: list[Receipt]) -> None:
    """Apply the receipts, and keep unmatched ones. Committed when it returns: the driver may acknowledge them."""
    if not receipts:
        return
    try:
        _record(engine, carrier, receipts)
    except _Repeated:
        _record(engine, carrier, receipts, fast=False)
    crashpoint("receipts.committed")


def _record(engine: Engine, carrier: str, receipts: list[Receipt], *, fast: bool = True) -> None:
    with transaction(engine) as connection:
        record_in(connection, carrier, apply_fast_path(connection, carrier, receipts) if fast else receipts)
        crashpoint("receipts.before_commit")


def record_in(connection: Connection, carrier: str, receipts: list[Receipt]) -> None:
    """Apply receipts of any kind in this transaction, and keep unmatched ones."""
    unmatched = _match_others(connection, carrier, receipts)
    if unmatched:
        keep(connection, carrier, unmatched)


def apply_fast_path(connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """Apply the usual receipts: final ones, no opt-outs, for recent messages that are `sent`. Returns all others.

    Raises _Repeated if the transaction has to be rolled back.
    """
    began = time.monotonic()
    alike: dict[tuple[MessageStatus, str | None, int | None], dict[str, Receipt]] = {}
    others = []
    for receipt in sorted(receipts, key=attrgetter("reference")):
        group = alike.setdefault((receipt.status, receipt.error, receipt.precision), {})
        usual = receipt.status in FINAL and not says_opted_out(receipt.error)
        if usual and receipt.phone is not None and receipt.reference not in group:
            group[receipt.reference] = receipt
        else:
            others.append(receipt)
    changes: dict[UUID, Counter[str]] = {}
    since = first_id_at(datetime.now(UTC) - RECENT)
    listeners = listening(connection)
    moved: list[StatusChange] = []
    counts: MessageCounts = Counter()
    delays: list[tuple[int, list[float]]] = []
    for (status, error, precision), group in alike.items():
        values = {
            "reference": list(group),
            "phone": array(receipt.phone for receipt in group.values()),
            "done_at": array(receipt.done_at.timestamp() for receipt in group.values()),
            "status": status,
            "error": error,
            "precision": precision,
            "carrier": carrier,
            "since": since,
        }
        for row in (
            connection.execute(APPLY_FAST_PATH_INDEXES if listeners else APPLY_FAST_PATH, values) if group else ()
        ):
            if row.account_id in listeners:
                indexes = [int(index, 16) for index in row.indexes]
                moved.append(StatusChange(row.account_id, row.send_id, row.batch, status, indexes, error))
            changes.setdefault(row.send_id, Counter()).update(
                {MessageStatus.SENT: -len(row.found), status: len(row.found)}
            )
            delays.append((row.lane, row.delays))
            for reference in row.found:
                applied = group.pop(reference, None)
                if applied is None:
                    raise _Repeated
                if applied.phone is not None:
                    counts[status, row.lane, applied.phone[:PREFIX_DIGITS]] += 1
        others += group.values()
    add_of_messages(connection, lambda _: moved)
    add_to_sends(connection, changes)
    count_messages(carrier, counts)
    for lane, seconds in delays:
        count_delays(carrier, lane, seconds)
    if traces.tracer is not None:
        trace_receipts(traces.tracer, connection, carrier, changes, began)
    return others


def apply(connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """Apply receipts of any kind, of each key the strongest first. Returns the unmatched ones.

    Several final receipts of a key are applied one after another, while one of its messages still waits.
    """
    waiting: dict[ReceiptKey, list[Receipt]] = {}
    for receipt in sorted(receipts, key=rank, reverse=True):
        of_key = waiting.setdefault(receipt.key, [])
        if receipt.status in FINAL or not of_key:
            of_key.append(receipt)
    unmatched: list[Receipt] = []
    while waiting:
        moved = _apply_one_each(connection, carrier, [of_key[0] for of_key in waiting.values()])
        unmatched += [receipt for key, of_key in waiting.items() if key not in moved for receipt in of_key]
        waiting = {key: of_key[1:] for key, of_key in waiting.items() if moved.get(key) and len(of_key) > 1}
    return unmatched


def _apply_one_each(connection: Connection, carrier: str, receipts: list[Receipt]) -> dict[ReceiptKey, bool]:
    """Apply one receipt of each key. Returns the keys that match a message, and whether it was moved."""
    began = time.monotonic()
    received_at = [receipt.received_at for receipt in receipts]
    rows = connection.execute(APPLY, {"carrier": carrier, "received_at": received_at, **columns(receipts)}).all()
    moved = [row for row in rows if row.moved]
    suppress_by_carrier(connection, [(row.account_id, row.phone) for row in moved if says_opted_out(row.error)])
    changes: dict[UUID, Counter[str]] = {}
    for row in moved:
        changes.setdefault(row.send_id, Counter()).update({row.before: -1, row.status: 1})
        if row.before == MessageStatus.SENT and row.status in FINAL:
            count_delays(carrier, row.lane, [row.delay])
    add_of_messages(connection, lambda _: map(StatusChange.of_message, moved))
    add_to_sends(connection, changes)
    count_messages(carrier, Counter((row.status, row.lane, str(row.phone)[:PREFIX_DIGITS]) for row in moved))
    if traces.tracer is not None:
        trace_receipts(traces.tracer, connection, carrier, changes, began)
    return {(row.reference, None if row.named is None else str(row.named)): row.moved for row in rows}


def match_unmatched(engine: Engine, newest: float, pages: int = MAX_PAGES) -> int:
    """Retry the unmatched receipts of the last `newest` seconds, newest first. Returns how many matched now."""
    matched, before = 0, LAST_NUMBER
    for _ in range(pages):
        with transaction(engine) as connection:
            values = {"newest": timedelta(seconds=newest), "before": before, "page": PAGE}
            rows = connection.execute(UNMATCHED, values).all()
            matched += _match_page(connection, rows)
        if len(rows) < PAGE:
            break
        before = rows[-1].id
    return matched


def _match_page(connection: Connection, rows: Sequence[Row[Any]]) -> int:
    matched = []
    for carrier in sorted({row.carrier for row in rows}):
        receipts = {row.id: receipt_of(row) for row in rows if row.carrier == carrier}
        unmatched = {id(receipt) for receipt in _match_others(connection, carrier, list(receipts.values()))}
        matched += [number for number, receipt in receipts.items() if id(receipt) not in unmatched]
    if matched:
        connection.execute(DROP_MATCHED, {"ids": matched})
    return len(matched)


def receipt_of(row: Row[Any]) -> Receipt:
    """An unmatched receipt, of UNMATCHED_COLUMNS."""
    phone = None if row.phone is None else str(row.phone)
    fields = (row.reference, MessageStatus(row.status), row.error, row.done_at, phone, row.sender_id, row.precision)
    return Receipt(*fields, row.received_at)


def _match_others(connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """Apply the receipts, by id or else by phone. Returns the unmatched ones."""
    unmatched = in_other_forms(apply, connection, carrier, apply(connection, carrier, receipts))
    strongest = {receipt.key: receipt for receipt in reversed(unmatched)}
    by_phone = fitting_by_phone(connection, carrier, list(strongest.values()))
    if by_phone:
        apply(connection, carrier, [each._replace(reference=by_destination(str(each.phone))) for each in by_phone])
    found = {receipt.key for receipt in by_phone}
    return [receipt for receipt in unmatched if receipt.key not in found]
