"""Stores receipts that could not be parsed, as received, for the operator."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, text

MAX_STORED = 200
"""Receipts kept per carrier; the newest."""
MAX_OCTETS = 4_096
"""Octets kept of each."""

KEEP = text(
    """
    INSERT INTO unreadable_receipt (carrier, reason, octets)
    SELECT :carrier, * FROM unnest(CAST(:reason AS text[]), CAST(:octets AS bytea[]))
    """
)
DROP_OLDEST = text(
    """
    DELETE FROM unreadable_receipt
     WHERE carrier = :carrier AND id <= (SELECT id FROM unreadable_receipt WHERE carrier = :carrier
                                          ORDER BY id DESC OFFSET :most LIMIT 1)
    """
)


class Unreadable(NamedTuple):
    """A receipt that could not be parsed: its body as received."""

    octets: bytes
    reason: str
    """`no_id_or_state`, `malformed`, `unknown_status` or `not_marked` (looks like one, but esm_class differs)."""

    def __repr__(self) -> str:
        """Omit the contents."""
        return f"Unreadable({len(self.octets)} octets, {self.reason})"


def keep_unreadable(connection: Connection, carrier: str, receipts: Sequence[Unreadable]) -> None:
    """Store receipts, and delete the carrier's oldest beyond the limit."""
    if receipts:
        last = receipts[-MAX_STORED:]
        values = {"reason": [each.reason for each in last], "octets": [each.octets[:MAX_OCTETS] for each in last]}
        connection.execute(KEEP, {"carrier": carrier, **values})
        connection.execute(DROP_OLDEST, {"carrier": carrier, "most": MAX_STORED})
