"""Finds the messages that a carrier accepted without an id, by the phones of receipts with unknown ids."""

from collections import Counter
from datetime import timedelta

from sqlalchemy import Connection, Interval, bindparam, func, select, text

from shared.carriers.receipts import Receipt, by_destination
from shared.db.expressions import in_parameter
from shared.db.tables.messages import message
from shared.doubts.candidates import RECIPIENTS_BEING_SENT
from shared.lifecycle import MessageStatus

RECENT = timedelta(days=4)
"""The longest time since its submit of a message that is found here, and since its acceptance by the fast path."""

MESSAGES = message.c
MATCH_WITHOUT_ID = (
    select(MESSAGES.phone)
    .distinct()
    .where(
        in_parameter(MESSAGES.reference, "references"),
        MESSAGES.carrier == bindparam("carrier"),
        MESSAGES.status == MessageStatus.SENT,
        MESSAGES.submitted_at > func.clock_timestamp() - bindparam("recent", type_=Interval),
    )
)

ONLY_WITHOUT_ID = text(
    f"""
    WITH wanted AS MATERIALIZED (SELECT unnest(CAST(:phones AS bigint[])) AS phone)
    SELECT m.phone
      FROM message m LEFT JOIN batch b ON b.id = batch_of(m.id) LEFT JOIN send s ON s.id = b.send_id
     WHERE m.reference = ANY(:references) AND m.carrier = :carrier
       AND (m.status NOT IN ('delivered', 'undelivered') OR coalesce(b.segments, s.segments, 2) > 1)
       AND m.submitted_at > clock_timestamp() - CAST(:recent AS interval)
       AND NOT EXISTS (SELECT FROM doubt d WHERE d.phone = m.phone AND d.carrier = :carrier)
       AND m.phone NOT IN (SELECT phone FROM ({RECIPIENTS_BEING_SENT}) AS u)
     GROUP BY m.phone HAVING count(*) = 1 AND bool_and(m.status = 'sent')
    """
)
"""Phones with exactly one message without an id, and no other message that a receipt with an unknown id could be for.
Messages with an id do not matter: their receipts name it."""


def fitting_by_phone(connection: Connection, carrier: str, receipts: list[Receipt]) -> list[Receipt]:
    """The receipts for messages that the carrier accepted without an id: their phone has exactly one such message, no
    other candidate, and exactly one such receipt."""
    of_phone = Counter(receipt.phone for receipt in receipts)
    candidates = [receipt for receipt in receipts if receipt.phone is not None and of_phone[receipt.phone] == 1]
    if not candidates:
        return []
    of_carrier = {"carrier": carrier, "recent": RECENT}
    values = {"references": [by_destination(str(receipt.phone)) for receipt in candidates], **of_carrier}
    phones = connection.execute(MATCH_WITHOUT_ID, values).scalars().all()
    if not phones:
        return []
    values = {"phones": phones, "references": [by_destination(str(phone)) for phone in phones], **of_carrier}
    single = {str(phone) for phone in connection.execute(ONLY_WITHOUT_ID, values).scalars()}
    return [receipt for receipt in candidates if receipt.phone in single]
