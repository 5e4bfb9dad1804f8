"""Finds the receipts of parts that the carrier has delivered to another process, which does not know these parts."""

import logging
import time

from worker.carriers.base import CarrierInbox, Receipt
from worker.carriers.smpp.multipart import MultipartMessage, MultipartMessages

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
"""Seconds from one look to the next."""


class OtherBinds:
    """Looks for these receipts from time to time. For the thread that handles the deliveries, which alone changes the
    state of multipart messages."""

    def __init__(self, multiparts: MultipartMessages) -> None:
        self._multiparts = multiparts
        self._due = 0.0

    def look(self, inbox: CarrierInbox) -> None:
        """Record what has been found, if it is time. After a failure, it is found again."""
        if self._multiparts.is_empty or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + LOOK_SECONDS
        try:
            self._record(inbox)
        except Exception as error:
            log.warning("receipts of other processes could not be recorded: %s", type(error).__name__)

    def _record(self, inbox: CarrierInbox) -> None:
        numbers: list[int] = []
        receipts: list[Receipt] = []
        before: list[tuple[MultipartMessage, set[str], set[str]]] = []
        for number, receipt in inbox.unmatched().items():
            long = self._multiparts.find(receipt.reference, receipt.phone)
            if long is None or long.in_doubt or long.is_open or receipt.reference in long.reported:
                continue
            before.append((long, long.reported.copy(), long.delivered.copy()))
            message_receipt = long.on_part_receipt(receipt)
            numbers.append(number)
            if message_receipt is not None:
                receipts.append(message_receipt)
        if not numbers:
            return
        try:
            inbox.replace_unmatched(numbers, receipts)
        except BaseException:
            for long, reported, delivered in reversed(before):
                long.reported, long.delivered = reported, delivered
            raise
