"""Applies delivery receipts: each exactly once in effect, in any order and number.

A receipt is matched by the carrier's id of the message, and by the phone where the receipt names it: by key where this
process has submitted the message itself, else in the database. One that finds
nothing is either early (its submit's result is not recorded yet), the answer to a doubt, or not ours: it resolves
the one doubt that fits, or waits in `receipt` and is tried again. A status only moves forward.
"""

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from shared.crashpoints import crashpoint
from shared.database import transaction
from shared.lifecycle import MessageStatus
from worker.carriers.base import Receipt
from worker.counts import add_to_sends
from worker.doubt import Resolution, resolve
from worker.references import Known, References

FINAL = (MessageStatus.DELIVERED, MessageStatus.UNDELIVERED)

APPLY = text(
    """
    WITH word AS (
        SELECT * FROM unnest(CAST(:reference AS text[]), CAST(:phone AS bigint[]), CAST(:status AS message_status[]),
                             CAST(:error AS text[]), CAST(:done_at AS timestamptz[]))
                      AS w (reference, phone, status, error, done_at)
    ), found AS (
        SELECT m.id, m.reference, m.status AS before, w.status, w.error, w.done_at
          FROM word w JOIN message m ON m.reference = w.reference AND m.carrier = :carrier
         WHERE (w.phone IS NULL OR m.phone = w.phone)
         ORDER BY m.id FOR UPDATE OF m
    ), moved AS (
        UPDATE message m SET status = f.status, error = f.error,
                             finished_at = GREATEST(f.done_at, m.submitted_at)
          FROM found f
         WHERE m.id = f.id AND f.before IN ('sent', 'expired', 'undelivered') AND f.before < f.status
        RETURNING m.id
    )
    SELECT f.reference, f.before, f.status, b.send_id, v.id IS NOT NULL AS moved
      FROM found f LEFT JOIN moved v ON v.id = f.id LEFT JOIN batch b ON b.id = batch_of(v.id)
    """
)

APPLY_BY_KEY = text(
    """
    WITH word AS (
        SELECT * FROM unnest(CAST(:id AS uuid[]), CAST(:done_at AS float8[])) AS w (id, done_at)
    ), moved AS (
        UPDATE message m SET status = CAST(:status AS message_status), error = CAST(:error AS text),
                             finished_at = GREATEST(to_timestamp(w.done_at), m.submitted_at)
          FROM word w WHERE m.id = w.id AND m.status = 'sent' AND m.carrier = :carrier
        RETURNING m.id
    )
    SELECT CAST(id AS text) FROM word WHERE id NOT IN (SELECT id FROM moved)
    """
)

IN_DOUBT_FOR = text(
    """
    SELECT message_id FROM doubt
     WHERE carrier = :carrier AND phone = :phone AND (CAST(:sender AS text) IS NULL OR sender_id = :sender)
       AND submitted_at BETWEEN CAST(:done_at AS timestamptz) - interval '3 days'
                            AND CAST(:done_at AS timestamptz) + interval '5 minutes'
     LIMIT 2
    """
)

KEEP = text(
    """
    INSERT INTO receipt (carrier, reference, phone, status, error, done_at)
    SELECT :carrier, * FROM unnest(CAST(:reference AS text[]), CAST(:phone AS bigint[]),
        CAST(:status AS message_status[]), CAST(:error AS text[]), CAST(:done_at AS timestamptz[]))
    """
)

KEPT = text(
    """
    SELECT id, carrier, reference, phone, status, error, done_at FROM receipt
     WHERE received_at > now() - make_interval(secs => :newest)
     ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
    """
)

DROP_KEPT = text("DELETE FROM receipt WHERE id = ANY(:ids)")


def record(engine: Engine, carrier: str, receipts: list[Receipt], references: References | None = None) -> None:
    """Store what the receipts say. When it returns, it is committed and the carrier may be answered.

    `references` is what this process has submitted itself.
    """
    if not receipts:
        return
    known, others = _known(receipts, references or References())
    with transaction(engine) as connection:
        others += apply_by_key(connection, carrier, known)
        unmatched = _place(connection, carrier, others) if others else []
        if unmatched:
            connection.execute(KEEP, {"carrier": carrier, **_columns(unmatched)})
        crashpoint("receipts.before_commit")
    crashpoint("receipts.committed")


def _known(receipts: list[Receipt], references: References) -> tuple[list[tuple[Known, Receipt]], list[Receipt]]:
    """The last word on each message that this process remembers, and all other receipts."""
    known: dict[str, tuple[Known, Receipt]] = {}
    others = []
    for receipt in receipts:
        message = references.take(receipt.reference) if receipt.status in FINAL else None
        if message is not None and receipt.phone in (None, message.phone):
            known[message.message_id] = message, receipt
        else:
            others.append(receipt)
    return list(known.values()), others


def apply_by_key(connection: Connection, carrier: str, known: list[tuple[Known, Receipt]]) -> list[Receipt]:
    """Move messages that are `sent` to what their receipts say. Returns the receipts of those that are not."""
    alike: dict[tuple[MessageStatus, str | None], dict[str, tuple[Known, Receipt]]] = {}
    for message, receipt in sorted(known, key=itemgetter(0)):
        alike.setdefault((receipt.status, receipt.error), {})[message.message_id] = message, receipt
    changes: dict[UUID, Counter[str]] = {}
    others = []
    for (status, error), messages in alike.items():
        values = {
            "id": array(messages),
            "done_at": array(str(receipt.done_at.timestamp()) for _, receipt in messages.values()),
            "status": status,
            "error": error,
            "carrier": carrier,
        }
        for row in connection.execute(APPLY_BY_KEY, values):
            others.append(messages.pop(row.id)[1])
        for send, count in Counter(message.send_id for message, _ in messages.values()).items():
            changes.setdefault(send, Counter()).update({MessageStatus.SENT: -count, status: count})
    add_to_sends(connection, changes)
    return others


def array(values: Iterable[str]) -> str:
    """Ids or numbers as the text of an array: one parameter, several times cheaper than a list of them."""
    return "{" + ",".join(values) + "}"


def apply(connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """Move the messages that the receipts are about. Returns the receipts that found none."""
    strongest: dict[str, Receipt] = {}
    for receipt in receipts:
        known = strongest.get(receipt.reference)
        if known is None or _rank(receipt) > _rank(known):
            strongest[receipt.reference] = receipt
    rows = connection.execute(APPLY, {"carrier": carrier, **_columns(list(strongest.values()))}).all()
    changes: dict[UUID, Counter[str]] = {}
    for row in rows:
        if row.moved:
            changes.setdefault(row.send_id, Counter()).update({row.before: -1, row.status: 1})
    add_to_sends(connection, changes)
    found = {row.reference for row in rows}
    return [receipt for reference, receipt in strongest.items() if reference not in found]


def match_kept(engine: Engine, newest: float, limit: int = 1000) -> int:
    """Try the receipts again that came in the last `newest` seconds and had found no message.

    Returns how many found theirs now.
    """
    with transaction(engine) as connection:
        kept = connection.execute(KEPT, {"newest": newest, "limit": limit}).all()
        matched = []
        for carrier in sorted({row.carrier for row in kept}):
            receipts = {row.id: _receipt(row) for row in kept if row.carrier == carrier}
            unmatched = {id(receipt) for receipt in _place(connection, carrier, list(receipts.values()))}
            matched += [number for number, receipt in receipts.items() if id(receipt) not in unmatched]
        if matched:
            connection.execute(DROP_KEPT, {"ids": matched})
    return len(matched)


def _receipt(row: Row[Any]) -> Receipt:
    phone = None if row.phone is None else str(row.phone)
    return Receipt(row.reference, MessageStatus(row.status), row.error, row.done_at, phone)


def _place(connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """Apply the receipts, or resolve doubts by them. Returns those that are for nothing that is known."""
    unmatched = apply(connection, carrier, receipts)
    return [receipt for receipt in unmatched if not _resolves_doubt(connection, carrier, receipt)]


def _resolves_doubt(connection: Connection, carrier: str, receipt: Receipt) -> bool:
    """Whether the receipt is for exactly one message in doubt, which it then resolves."""
    if receipt.phone is None:
        return False
    candidates = connection.execute(
        IN_DOUBT_FOR,
        {"carrier": carrier, "phone": receipt.phone, "sender": receipt.sender_id, "done_at": receipt.done_at},
    ).all()
    if len(candidates) != 1:
        return False
    resolution = Resolution(candidates[0].message_id, receipt.status, receipt.reference, receipt.error)
    return resolve(connection, [resolution]) == 1


def _rank(receipt: Receipt) -> int:
    return list(MessageStatus).index(receipt.status)


def _columns(receipts: list[Receipt]) -> dict[str, list[object]]:
    return {
        "reference": [receipt.reference for receipt in receipts],
        "phone": [receipt.phone and int(receipt.phone) for receipt in receipts],
        "status": [receipt.status for receipt in receipts],
        "error": [receipt.error for receipt in receipts],
        "done_at": [receipt.done_at for receipt in receipts],
    }
