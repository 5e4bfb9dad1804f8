"""What carriers delivered and nobody could read: kept as it came, for an operator to look at."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, text

MAX_STORED = 200
"""Of each carrier; the newest."""
LONGEST = 4_096
"""Octets of one that are kept."""

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
    """One delivery as it came, without its header."""

    octets: bytes
    reason: str
    """`no_id_or_state`, `malformed`, `unknown_status` or `not_marked`: it reads like a receipt and is not marked so."""

    def __repr__(self) -> str:
        """Why, and not what it says."""
        return f"Unreadable({len(self.octets)} octets, {self.reason})"


def keep_unreadable(connection: Connection, carrier: str, found: Sequence[Unreadable]) -> None:
    """Keep the last of them."""
    if found:
        last = found[-MAX_STORED:]
        values = {"reason": [each.reason for each in last], "octets": [each.octets[:LONGEST] for each in last]}
        connection.execute(KEEP, {"carrier": carrier, **values})
        connection.execute(DROP_OLDEST, {"carrier": carrier, "most": MAX_STORED})
