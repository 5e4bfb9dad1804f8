"""Receipts of multipart messages: the carrier reports each part, the service tracks one message.

A message is delivered when all of its parts are, and undelivered when one is. The state of the last
`MAX_TRACKED_PARTS` parts is kept in memory. After a restart, the first part's receipt counts for the message, and those
of the other parts match nothing. If the carrier delivers a receipt to another process's bind, the first part's counts
there, too; those of the other parts are stored, and found by the process that submitted the message
(`other_binds.py`).

Carriers reuse ids, later and for other phones, and some give all parts of a message the same id. So a part is
identified by id and phone, and a message expects as many receipts as it has distinct ids, or one if its carrier reports
only one part.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from shared.lifecycle import MessageStatus
from shared.sms.phones import MIN_DIGITS
from shared.sms.spellings import other_spellings
from worker.carriers.base import PARTLY_SENT, Receipt

MAX_TRACKED_PARTS = 200_000


@dataclass(slots=True)
class MultipartMessage:
    """One message in `total` parts, and the state of its parts."""

    total: int
    phone: str = ""
    ids: dict[int, str] = field(default_factory=dict)
    """The carrier's id of each part, by part number from 0. The first part's id is the message's reference."""
    in_doubt: bool | None = None
    """Whether its submit ended in doubt; None until it has ended."""
    one_receipt: bool = False
    """The carrier reports only one of its parts."""
    partly_sent: bool = False
    """Some parts were accepted and some not: the phone will never show the whole message."""
    delivered: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)
    """Ids with a final receipt."""

    @property
    def expected(self) -> int:
        """The number of distinct ids for which receipts are expected."""
        if self.one_receipt:
            return 1
        return len({*self.ids.values()}) if len(self.ids) == self.total else self.total

    @property
    def is_open(self) -> bool:
        """Whether it may yet be in doubt: its submit has not ended, and not all of its parts are accepted."""
        return self.in_doubt is None and len(self.ids) < self.total

    def on_part_receipt(self, receipt: Receipt) -> Receipt | None:
        """The message's receipt after this receipt of one part; None while nothing is certain of an accepted message.

        If the message is in doubt, every receipt counts: it shows that the carrier has the message.
        """
        part = receipt.reference
        message_receipt = receipt._replace(reference=self.ids.get(0, part))
        again = part in self.reported and len(self.reported) >= self.expected
        was_delivered = part in self.delivered
        if receipt.status != MessageStatus.SENT:
            self.reported.add(part)
        if receipt.status == MessageStatus.DELIVERED:
            self.delivered.add(part)
        if self.in_doubt or self.partly_sent or self.is_open:
            return self._evidence(message_receipt)
        if receipt.status == MessageStatus.SENT:
            return None
        is_delivered = len(self.delivered) >= self.expected
        if again and (was_delivered or receipt.status == MessageStatus.UNDELIVERED):
            # A duplicate, or the id was reused for another message. It must not correct an undelivered message.
            return receipt if is_delivered or not was_delivered or part != self.ids.get(0) else None
        return message_receipt if is_delivered or receipt.status == MessageStatus.UNDELIVERED else None

    def _evidence(self, message_receipt: Receipt) -> Receipt:
        """The receipt of a message in doubt: undelivered once a part is, or if only some parts were accepted."""
        incomplete = self.partly_sent or self.reported - self.delivered
        if message_receipt.status == MessageStatus.SENT or not incomplete:
            return message_receipt
        error = message_receipt.error or PARTLY_SENT
        return message_receipt._replace(status=MessageStatus.UNDELIVERED, error=error)


class MultipartMessages:
    """Recently submitted multipart messages, by the carrier's id of each part. Thread-safe."""

    def __init__(self) -> None:
        self._by_part: OrderedDict[str, dict[str, MultipartMessage]] = OrderedDict()
        """By id, then by phone."""
        self._lock = threading.Lock()
        self._tickets = 0
        self._open: dict[int, frozenset[str]] = {}
        """The phones of open submits, by ticket."""

    def begin(self, phones: Iterable[str]) -> int:
        """Begin a submit with long messages to these phones. Returns a ticket.

        Their receipts may precede their parts' ids.
        """
        endings = frozenset(map(_ending, phones))
        with self._lock:
            self._tickets += 1
            self._open[self._tickets] = endings
            return self._tickets

    def end(self, ticket: int) -> None:
        """End that submit: its responses are recorded."""
        with self._lock:
            self._open.pop(ticket, None)

    def now(self) -> int:
        """A mark for `settled`: the last ticket issued."""
        with self._lock:
            return self._tickets

    def settled(self, mark: int) -> bool:
        """Whether every submit that had begun by the mark has ended."""
        with self._lock:
            return not self._open or min(self._open) > mark

    def add(self, part: str, number: int, long: MultipartMessage) -> None:
        """Record the carrier's id of part `number` (from 0)."""
        with self._lock:
            long.ids[number] = part
            self._by_part.setdefault(part, {})[long.phone] = long
            self._by_part.move_to_end(part)
            if len(self._by_part) > MAX_TRACKED_PARTS:
                self._by_part.popitem(last=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self._by_part

    def may_be_open(self, receipt: Receipt) -> bool:
        """Whether the receipt's message may be one of an open submit that is not known yet, or may yet be in doubt."""
        long = self.find(receipt.reference, receipt.phone)
        return self._is_being_submitted(receipt.phone) if long is None else long.is_open

    def _is_being_submitted(self, phone: str | None) -> bool:
        with self._lock:
            return phone is None or any(_ending(phone) in endings for endings in self._open.values())

    def find(self, reference: str, phone: str | None) -> MultipartMessage | None:
        """The multipart message to this phone with a part of this id; without a phone, the only one with it.

        A phone may lack the country code, as in the receipts of some carriers.
        """
        by_phone = self._by_part.get(reference)
        if not by_phone:
            return None
        for spelling in () if phone is None else (phone, *other_spellings(phone)):
            if spelling in by_phone:
                return by_phone[spelling]
        with self._lock:
            only = next(iter(by_phone.values())) if len(by_phone) == 1 else None
        return only if only is not None and only.phone.endswith(phone or "") else None


def _ending(phone: str) -> str:
    """The digits that all spellings of a phone share, also those without the country code."""
    return phone[-MIN_DIGITS:]
