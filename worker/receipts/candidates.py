"""Which messages may be meant by evidence that names a phone, and neither our id nor an id of the carrier that we know.

Evidence proves something of one message only when no other one can be meant. So all that went to the phone counts,
over all sends and accounts: what is in doubt, what waits for its receipt, and what is under way with no result yet.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from shared.ids import message_id
from shared.lifecycle import MessageStatus

LONGEST_VALIDITY = timedelta(days=4)
"""For so long before evidence came what was submitted counts."""


class Candidate(NamedTuple):
    """A message that a carrier has, or may have."""

    message_id: UUID
    phone: str
    sender_id: str | None
    """None where its send is not known any more."""
    submitted_at: datetime | None
    """None while it is under way."""
    status: MessageStatus
    reference: str | None
    parts: int
    answered: bool
    """Whether its last receipt has come and no other can: its reference is known, it has one part, it went once."""

    def sent_by(self, sender_id: str | None) -> bool:
        """Whether it may be from that sender; None names none."""
        return sender_id is None or self.sender_id is None or self.sender_id == sender_id


UNDER_WAY = """
    SELECT b.id AS batch_id, r.number, w.phone, s.sender_id
      FROM (SELECT id, send_id, recipients FROM batch WHERE state = 'sending'
             UNION ALL
            SELECT b.id, b.send_id, b.recipients FROM send s JOIN batch b ON b.send_id = s.id
             WHERE s.resent > 0 AND b.state NOT IN ('sending', 'done')) b
      JOIN send s ON s.id = b.send_id
     CROSS JOIN LATERAL unnest(string_to_array(b.recipients, E'\\n')) WITH ORDINALITY AS r (phone, number)
      JOIN wanted w ON CAST(w.phone AS text) = r.phone
"""
"""SQL: who of `wanted` is in a batch that is being sent; or not done, where what had no answer goes again."""

CANDIDATES = text(
    f"""
    WITH wanted AS MATERIALIZED (
        SELECT DISTINCT phone FROM unnest(CAST(:phones AS bigint[])) AS w (phone)
    ), handed_over AS (
        SELECT m.id, m.phone, m.submitted_at, m.status, m.reference, s.sender_id,
               coalesce(b.segments, s.segments, 2) AS parts, m.attempts > 1 AND s.resent > 0 AS resent
          FROM wanted w JOIN message m ON m.phone = w.phone
          LEFT JOIN batch b ON b.id = batch_of(m.id)
          LEFT JOIN send s ON s.id = b.send_id
         WHERE m.carrier = :carrier AND m.submitted_at > :since
           AND (m.status NOT IN ('rejected', 'failed') OR m.attempts > 1 AND s.resent > 0
                OR m.status = 'failed' AND :refused)
    ), under_way AS ({UNDER_WAY})
    SELECT id, 0 AS number, CAST(phone AS text) AS phone, sender_id, submitted_at, status, reference, parts,
           status IN ('delivered', 'undelivered') AND reference IS NOT NULL AND parts = 1 AND NOT resent AS answered
      FROM handed_over
     UNION ALL
    SELECT batch_id, number, CAST(phone AS text), sender_id, NULL, 'sending', NULL, 1, false FROM under_way
    """
)
"""In one statement, so that a message that is just being recorded is seen as under way or with its reference."""


def candidates(
    connection: Connection, carrier: str, phones: Collection[str], since: datetime, refused: bool = False
) -> list[Candidate]:
    """What the carrier has or may have for these phones, of all that was submitted after `since`.

    With `refused` also what it refused. Evidence must have been there before: a message that is submitted later is not
    seen.
    """
    values = {"carrier": carrier, "phones": [int(phone) for phone in phones], "since": since, "refused": refused}
    rows = connection.execute(CANDIDATES, values).all()
    recorded = {row.id for row in rows if not row.number}
    found = []
    for row in rows:
        message = message_id(row.id, row.number)
        if not row.number or message not in recorded:
            found.append(
                Candidate(
                    message,
                    row.phone,
                    row.sender_id,
                    row.submitted_at,
                    MessageStatus(row.status),
                    row.reference,
                    row.parts,
                    row.answered,
                )
            )
    return found
