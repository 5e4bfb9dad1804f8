"""Receipts of messages in several parts: the carrier speaks of each part, the service knows one message.

A message is delivered when all of its parts are, and undelivered when one is. What is known of the parts is kept in
memory, for the last `REMEMBERED` of them: after a restart, or where a carrier gives a receipt to the bind of another
process, the first part's receipt counts for the message, and those of the other parts are about nothing.

Carriers use their ids again, for other phones and later, and some give one id to all parts of a message. So a part is
known by its id and its phone, and a message has as many receipts to come as it has different ids.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from shared.lifecycle import MessageStatus
from worker.carriers.base import Receipt

REMEMBERED = 200_000


@dataclass(slots=True)
class Long:
    """One message in `total` parts, and what is known of them."""

    total: int
    phone: str = ""
    ids: dict[int, str] = field(default_factory=dict)
    """The carrier's id of each part, by its number from 0; that of the first part is the message's reference."""
    partly_sent: bool = False
    """Some parts were taken and some not: the phone will never show it whole."""
    delivered: set[str] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)
    """Ids with a last receipt."""

    @property
    def expected(self) -> int:
        """How many different ids will be spoken of."""
        return len({*self.ids.values()}) if len(self.ids) == self.total else self.total

    def hear(self, receipt: Receipt) -> Receipt | None:
        """What the receipt of one part says of the message; None while that is not decided."""
        about = receipt._replace(reference=self.ids.get(0, receipt.reference))
        if receipt.status == MessageStatus.SENT:
            return None
        if receipt.reference in self.heard and len(self.heard) >= self.expected:
            return receipt  # all parts had theirs: it is said again, or the id is used again for another message
        self.heard.add(receipt.reference)
        if self.partly_sent:
            return about._replace(status=MessageStatus.UNDELIVERED, error=receipt.error or "partly_sent")
        if receipt.status == MessageStatus.DELIVERED:
            self.delivered.add(receipt.reference)
            return about if len(self.delivered) >= self.expected else None
        return about


class Longs:
    """The messages in parts that were submitted lately, by the carrier's id of each part. For several threads."""

    def __init__(self) -> None:
        self._by_part: OrderedDict[str, dict[str, Long]] = OrderedDict()
        """By id, and then by phone."""
        self._lock = threading.Lock()
        self._tickets = 0
        self._open: set[int] = set()

    def begin(self) -> int:
        """A submit with long messages begins: ids may be spoken of before they are known."""
        with self._lock:
            self._tickets += 1
            self._open.add(self._tickets)
            return self._tickets

    def end(self, ticket: int) -> None:
        """That submit has its answers."""
        with self._lock:
            self._open.discard(ticket)

    def now(self) -> int:
        """A mark: the submits that have begun."""
        with self._lock:
            return self._tickets

    def settled(self, mark: int) -> bool:
        """Whether every submit that had begun at the mark has ended."""
        with self._lock:
            return not self._open or min(self._open) > mark

    def add(self, part: str, number: int, long: Long) -> None:
        """The carrier's id of part `number` (from 0) has become known."""
        with self._lock:
            long.ids[number] = part
            self._by_part.setdefault(part, {})[long.phone] = long
            self._by_part.move_to_end(part)
            if len(self._by_part) > REMEMBERED:
                self._by_part.popitem(last=False)

    def find(self, reference: str, phone: str | None) -> Long | None:
        """The message in parts to this phone that has a part of this id; where no phone is named, the only one."""
        found = self._by_part.get(reference)
        if not found:
            return None
        if phone is not None:
            return found.get(phone)
        with self._lock:
            return next(iter(found.values())) if len(found) == 1 else None
