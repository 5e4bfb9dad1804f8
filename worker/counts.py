"""The counters of a send: one per stored message status.

They change in the transaction that writes or moves the rows, so they are the rows' counts at every commit.
"""

from collections import Counter
from uuid import UUID

from sqlalchemy import Connection, text

from shared.lifecycle import STORED

LOCK = text("SELECT id FROM send WHERE id = ANY(:ids) ORDER BY id FOR UPDATE")

ADD = text(
    "UPDATE send s SET "
    + ", ".join(f"{status} = s.{status} + c.{status}" for status in STORED)
    + " FROM unnest(CAST(:id AS uuid[]), "
    + ", ".join(f"CAST(:{status} AS int[])" for status in STORED)
    + ") AS c (id, "
    + ", ".join(STORED)
    + ") WHERE s.id = c.id"
)


def add_to_sends(connection: Connection, changes: dict[UUID, Counter[str]]) -> None:
    """Add to each send's counters. The sends are locked in the order of their ids."""
    ids = sorted(send for send, counter in changes.items() if any(counter.values()))
    if not ids:
        return
    if len(ids) > 1:
        connection.execute(LOCK, {"ids": ids})
    columns = {str(status): [changes[send][status] for send in ids] for status in STORED}
    connection.execute(ADD, {"id": ids, **columns})
