"""Why messages of a send failed or are in doubt: their number by status and error."""

from collections import Counter
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.resources.sends.routes import read_send
from api.resources.sends.schemas import UNSUCCESSFUL, SendErrorsResponse
from shared.carriers.error_codes import code_of
from shared.ids import FIRST_ID
from shared.lifecycle import MessageStatus

BATCHES_PER_STATEMENT = 200
"""With at most 200,000 messages, which are counted in a fraction of a second."""
COUNT = text(
    """
    WITH chosen AS (
        SELECT id, CAST(overlay(id::text placing 'ffff' from 33) AS uuid) AS last
          FROM batch WHERE send_id = :send AND id > :after ORDER BY id LIMIT :batches
    )
    SELECT m.status, m.error, count(m.id) AS messages, (SELECT max(id::text) FROM chosen) AS last
      FROM (SELECT 1) AS one
      LEFT JOIN (chosen c JOIN message m ON m.id > c.id AND m.id <= c.last) ON true
     GROUP BY m.status, m.error
    """
)
"""Counts by the ids of a batch's messages, which follow its own: no index has the send or the status. SQL, as the ids
are made of text."""


@endpoint("GET", "/sends/<uuid:send_id>/errors", response=SendErrorsResponse, scope="sms:read")
def count_send_errors(caller: Caller, connection: Connection, send_id: UUID) -> Any:
    """Count the messages of a send that failed, expired or are in doubt, by status and error, most frequent first."""
    counts = read_send(connection, caller, send_id)["counts"]
    found = _count_errors(connection, send_id)
    for status in UNSUCCESSFUL:  # those without a row
        rest = counts[status] - sum(count for (of, _), count in found.items() if of == status)
        if rest > 0:
            found[status, "expired" if status == MessageStatus.EXPIRED else None] += rest
    data = [{"status": status, "code": code, "count": count} for (status, code), count in found.most_common()]
    return {"data": data}


def _count_errors(connection: Connection, send: UUID) -> Counter[tuple[str, str | None]]:
    found: Counter[tuple[str, str | None]] = Counter()
    after: UUID | str | None = FIRST_ID
    while after is not None:
        rows = connection.execute(COUNT, {"send": send, "after": after, "batches": BATCHES_PER_STATEMENT}).all()
        for row in rows:
            if row.status in UNSUCCESSFUL:
                found[row.status, code_of(row.status, row.error)] += row.messages
        after = rows[0].last
    return found
