"""Stores what a carrier delivers in the database.

A carrier with several binds delivers each receipt to any of them. Only the process that submitted a long message knows
the ids of all its parts, so it also looks through the newest unmatched receipts.
"""

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import Engine, Interval, bindparam, func, select

from shared.carriers.unreadable import Unreadable, keep_unreadable
from shared.db.connection import reading, transaction
from shared.db.tables.messages import receipt
from shared.inbound import Inbound, store
from worker.carriers.base import LateResponse, Receipt
from worker.receipts.late_responses import record_late_responses
from worker.receipts.match import DROP_MATCHED, FINAL, UNMATCHED_COLUMNS, receipt_of, record, record_in

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


class DatabaseInbox:
    """The `CarrierInbox` of one carrier. Messages in `resend_lanes` may be submitted again while in doubt."""

    def __init__(self, engine: Engine, carrier: str, resend_lanes: Collection[int]) -> None:
        self._engine = engine
        self._carrier = carrier
        self._resend_lanes = resend_lanes

    def store_receipts(self, receipts: list[Receipt]) -> None:
        """Apply receipts, and keep unmatched ones."""
        record(self._engine, self._carrier, receipts)

    def resolve_late(self, responses: list[LateResponse]) -> list[LateResponse]:
        """Resolve the doubts of the responses' messages. Returns those to report again."""
        return record_late_responses(self._engine, responses, self._resend_lanes)

    def store_inbound(self, messages: list[Inbound]) -> None:
        """Store inbound messages."""
        with transaction(self._engine) as connection:
            store(connection, self._carrier, messages)

    def store_unreadable(self, deliveries: list[Unreadable]) -> None:
        """Store deliveries that could not be read."""
        with transaction(self._engine) as connection:
            keep_unreadable(connection, self._carrier, deliveries)

    def unmatched(self) -> dict[int, Receipt]:
        """The final receipts that came within a minute, newest first, by their number."""
        with reading(self._engine) as connection:
            rows = connection.execute(UNMATCHED, {"newest": NEWEST, "carrier": self._carrier}).all()
        return {row.id: receipt_of(row) for row in rows}

    def replace_unmatched(self, numbers: list[int], receipts: list[Receipt]) -> None:
        """Record these receipts instead of the unmatched ones."""
        with transaction(self._engine) as connection:
            connection.execute(DROP_MATCHED, {"ids": numbers})
            record_in(connection, self._carrier, receipts)
