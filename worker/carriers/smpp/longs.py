"""Receipts of messages in several parts: the carrier speaks of each part, the service knows one message.

A message is delivered when all of its parts are, and undelivered when one is. What is known of the parts is kept in
memory, for the last `REMEMBERED` of them: after a restart, or where a carrier gives a receipt to the bind of another
process, the first part's receipt counts for the message, and those of the other parts are about nothing.
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
    first: str | None = None
    """The carrier's id of the first part, which is the message's reference."""
    partly_sent: bool = False
    """Some parts were taken and some not: the phone will never show it whole."""
    delivered: set[str] = field(default_factory=set)

    def hear(self, receipt: Receipt) -> Receipt | None:
        """What the receipt of one part says of the message; None while that is not decided."""
        about = receipt._replace(reference=self.first or receipt.reference)
        if receipt.status == MessageStatus.SENT:
            return None
        if self.partly_sent:
            return about._replace(status=MessageStatus.UNDELIVERED, error=receipt.error or "partly_sent")
        if receipt.status == MessageStatus.DELIVERED:
            self.delivered.add(receipt.reference)
            return about if len(self.delivered) >= self.total else None
        return about


class Longs:
    """The messages in parts that were submitted lately, by the carrier's id of each part. For several threads."""

    def __init__(self) -> None:
        self._by_part: OrderedDict[str, Long] = OrderedDict()
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
            if number == 0:
                long.first = part
            self._by_part[part] = long
            if len(self._by_part) > REMEMBERED:
                self._by_part.popitem(last=False)

    def find(self, reference: str) -> Long | None:
        """The message in parts that has a part of this id."""
        return self._by_part.get(reference)
