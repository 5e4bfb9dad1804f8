"""Finds the messages that evidence may be about if it names only a phone, and no id that we know.

Evidence applies to a message only if it can be about no other. So all messages to the phone are candidates, across all
sends and accounts: those in doubt, those that wait for a receipt, and those in progress without a result yet.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, text

from shared.ids import message_id
from shared.lifecycle import MessageStatus

MAX_VALIDITY = timedelta(days=4)
"""How long before its evidence a message may have been submitted."""


class MessageCandidate(NamedTuple):
    """A message that the carrier has, or may have."""

    message_id: UUID
    phone: str
    sender_id: str | None
    """None if its send is no longer known."""
    submitted_at: datetime | None
    """None while it is being sent."""
    status: MessageStatus
    reference: str | None
    parts: int
    answered: bool
    """Whether its final receipt has come and no other can: known reference, a single part, submitted once."""
    error: str | None = None

    def sent_by(self, sender_id: str | None) -> bool:
        """Whether it may be from this sender, in any case, with or without +; None matches all."""
        return sender_id is None or self.sender_id is None or _bare(self.sender_id) == _bare(sender_id)


def _bare(sender_id: str) -> str:
    return sender_id.removeprefix("+").lower()


RECIPIENTS_BEING_SENT = """
    SELECT b.id AS batch_id, r.number, w.phone, s.sender_id
      FROM (SELECT id, send_id, recipients FROM batch WHERE state = 'sending'
             UNION ALL
            SELECT b.id, b.send_id, b.recipients FROM send s JOIN batch b ON b.send_id = s.id
             WHERE s.resent > 0 AND b.state NOT IN ('sending', 'done')) b
      JOIN send s ON s.id = b.send_id
     CROSS JOIN LATERAL unnest(string_to_array(b.recipients, E'\\n')) WITH ORDINALITY AS r (phone, number)
      JOIN wanted w ON CAST(w.phone AS text) = r.phone
"""
"""SQL: the `wanted` phones in batches being sent, or in open batches of sends that resend unanswered messages."""

CANDIDATES = text(
    f"""
    WITH wanted AS MATERIALIZED (
        SELECT DISTINCT phone FROM unnest(CAST(:phones AS bigint[])) AS w (phone)
    ), submitted AS (
        SELECT m.id, m.phone, m.submitted_at, m.status, m.reference, m.error, s.sender_id,
               coalesce(b.segments, s.segments, 2) AS parts, m.attempts > 1 AND s.resent > 0 AS resent
          FROM wanted w JOIN message m ON m.phone = w.phone
          LEFT JOIN batch b ON b.id = batch_of(m.id)
          LEFT JOIN send s ON s.id = b.send_id
         WHERE m.carrier = :carrier AND m.submitted_at > :since
           AND (m.status NOT IN ('rejected', 'failed') OR m.attempts > 1 AND s.resent > 0
                OR m.status = 'failed' AND :refused)
    ), under_way AS ({RECIPIENTS_BEING_SENT})
    SELECT id, 0 AS number, CAST(phone AS text) AS phone, sender_id, submitted_at, status, reference, parts,
           status IN ('delivered', 'undelivered') AND reference IS NOT NULL AND parts = 1 AND NOT resent AS answered,
           error
      FROM submitted
     UNION ALL
    SELECT batch_id, number, CAST(phone AS text), sender_id, NULL, 'sending', NULL, 1, false, NULL FROM under_way
    """
)
"""One statement, so that a message being recorded is seen either as in progress or with its reference."""


def candidates(
    connection: Connection, carrier: str, phones: Collection[str], since: datetime, refused: bool = False
) -> list[MessageCandidate]:
    """The messages to these phones that the carrier has or may have, of those submitted after `since`.

    With `refused`, also those that it refused. The evidence must precede this call, as later submits are not seen.
    """
    values = {"carrier": carrier, "phones": [int(phone) for phone in phones], "since": since, "refused": refused}
    rows = connection.execute(CANDIDATES, values).all()
    recorded = {row.id for row in rows if not row.number}
    result = []
    for row in rows:
        message = message_id(row.id, row.number)
        if not row.number or message not in recorded:
            result.append(
                MessageCandidate(
                    message,
                    row.phone,
                    row.sender_id,
                    row.submitted_at,
                    MessageStatus(row.status),
                    row.reference,
                    row.parts,
                    row.answered,
                    row.error,
                )
            )
    return result
