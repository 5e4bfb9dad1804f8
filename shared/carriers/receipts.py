"""Delivery receipts, and the storage of receipts that are not matched with a message yet."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Text, bindparam, insert, select

from shared.db.expressions import parameter_rows
from shared.db.tables.messages import receipt
from shared.lifecycle import MessageStatus

ReceiptKey = tuple[str, str | None]


class Receipt(NamedTuple):
    """A carrier's delivery receipt for a message that it accepted earlier."""

    reference: str
    status: MessageStatus
    """`sent` (on its way), `undelivered` or `delivered`."""
    error: str | None
    done_at: datetime
    phone: str | None = None
    sender_id: str | None = None
    precision: int | None = None
    """Precision of `done_at` in seconds: 60, 1, or 0 if finer. None: the carrier gave no time, `done_at` is ours."""
    received_at: datetime | None = None
    """Time of arrival; None: now."""

    @property
    def key(self) -> ReceiptKey:
        """The id and the phone that it names. Several messages may have both."""
        return self.reference, self.phone


MAX_AGE, MAX_AHEAD = timedelta(days=30), timedelta(minutes=5)
"""How far the time of a receipt may be from now; clocks differ, and some carriers send nonsense."""

COLUMNS = ("reference", "phone", "status", "error", "done_at", "sender_id", "precision")
RECEIPTS = parameter_rows("receipts", *receipt.c[COLUMNS])
KEEP = insert(receipt).from_select(["carrier", *COLUMNS], select(bindparam("carrier", type_=Text), *RECEIPTS.c))


BY_PHONE = "to:"
"""Begins the reference of a message without an id of the carrier."""


def is_plausible(at: datetime, now: datetime) -> bool:
    """Whether a carrier can mean this time; otherwise the time of arrival is used."""
    return now - MAX_AGE <= at <= now + MAX_AHEAD


def by_destination(phone: str) -> str:
    """The reference of a message accepted without an id. Its receipt is matched by the phone."""
    return f"{BY_PHONE}{phone}"


def carrier_reference(reference: str | None) -> str | None:
    """The carrier's id of a message; None if it gave none."""
    return None if reference is not None and reference.startswith(BY_PHONE) else reference


def keep(connection: Connection, carrier: str, receipts: Sequence[Receipt]) -> None:
    """Store receipts until a worker matches them; workers check every second."""
    if receipts:
        connection.execute(KEEP, {"carrier": carrier, **columns(receipts)})


def columns(receipts: Sequence[Receipt]) -> dict[str, list[object]]:
    """The receipts as columns."""
    values = {name: [getattr(receipt, name) for receipt in receipts] for name in COLUMNS}
    return {**values, "phone": [receipt.phone and int(receipt.phone) for receipt in receipts]}


RANKS = {str(status): rank for rank, status in enumerate(MessageStatus)}


def rank(receipt: Receipt | Row[Any]) -> int:
    """How strong a receipt is, by its status: of several for one message, the strongest decides."""
    return RANKS[receipt.status]
