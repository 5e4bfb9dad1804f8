"""Stores receipts and inbound messages that could not be parsed, as received, for the operator."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Text, bindparam, delete, insert, select

from shared.db.expressions import parameter_rows
from shared.db.tables.messages import unreadable_receipt

MAX_STORED = 200
"""Receipts kept per carrier; the newest."""
MAX_OCTETS = 4_096
"""Octets kept of each."""

RECEIPTS = parameter_rows("receipts", *unreadable_receipt.c["reason", "octets"])
KEEP = insert(unreadable_receipt).from_select(
    ["carrier", "reason", "octets"], select(bindparam("carrier", type_=Text), *RECEIPTS.c)
)
NEWEST = unreadable_receipt.alias("newest")
NEWEST_DROPPED = (
    select(NEWEST.c.id)
    .where(NEWEST.c.carrier == bindparam("carrier"))
    .order_by(NEWEST.c.id.desc())
    .offset(MAX_STORED)
    .limit(1)
    .scalar_subquery()
)
DROP_OLDEST = delete(unreadable_receipt).where(
    unreadable_receipt.c.carrier == bindparam("carrier"), unreadable_receipt.c.id <= NEWEST_DROPPED
)


class Unreadable(NamedTuple):
    """A receipt or inbound message that could not be parsed: its body as received."""

    octets: bytes
    reason: str
    """`no_id_or_state`, `malformed`, `unknown_status`, `not_marked` (looks like one, but esm_class differs),
    `broken_parameters` (what could be read was used), `refused` (by the database), or `not_a_message` (phones or text
    are missing)."""

    def __repr__(self) -> str:
        """Omit the contents."""
        return f"Unreadable({len(self.octets)} octets, {self.reason})"


def keep_unreadable(connection: Connection, carrier: str, receipts: Sequence[Unreadable]) -> None:
    """Store receipts, and delete the carrier's oldest beyond the limit."""
    if receipts:
        last = receipts[-MAX_STORED:]
        values = {"reason": [each.reason for each in last], "octets": [each.octets[:MAX_OCTETS] for each in last]}
        connection.execute(KEEP, {"carrier": carrier, **values})
        connection.execute(DROP_OLDEST, {"carrier": carrier})
