"""The newest unmatched receipts of a carrier, for the process that can tell which messages they are for.

A carrier with several binds delivers each receipt to any of them. Only the process that submitted a long message knows
the ids of all its parts.
"""

from datetime import timedelta

from sqlalchemy import Engine, Interval, bindparam, func, select

from shared.db.connection import reading, transaction
from shared.db.tables.messages import receipt
from worker.carriers.base import Receipt
from worker.receipts.match import DROP_MATCHED, FINAL, UNMATCHED_COLUMNS, receipt_of, record_in

NEWEST = timedelta(seconds=60)
MAX_FOUND = 10_000
UNMATCHED = (
    select(*UNMATCHED_COLUMNS)
    .where(
        receipt.c.received_at > func.now() - bindparam("newest", type_=Interval),
        receipt.c.carrier == bindparam("carrier"),
        receipt.c.status.in_(sorted(FINAL)),
    )
    .order_by(receipt.c.id.desc())
    .limit(MAX_FOUND)
)


class UnmatchedReceipts:
    """Those of one carrier."""

    def __init__(self, engine: Engine, carrier: str) -> None:
        self._engine = engine
        self._carrier = carrier

    def find(self) -> dict[int, Receipt]:
        """The final receipts that came within a minute, newest first, by their number."""
        with reading(self._engine) as connection:
            rows = connection.execute(UNMATCHED, {"newest": NEWEST, "carrier": self._carrier}).all()
        return {row.id: receipt_of(row) for row in rows}

    def replace(self, numbers: list[int], receipts: list[Receipt]) -> None:
        """Record these receipts instead of the unmatched ones."""
        with transaction(self._engine) as connection:
            connection.execute(DROP_MATCHED, {"ids": numbers})
            record_in(connection, self._carrier, receipts)
