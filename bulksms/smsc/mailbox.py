"""Receipts of one account, and messages to it: when due they go to one of its binds, and come again until answered."""

import asyncio
from collections import deque
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from bulksms.smsc.books import Counts
from bulksms.smsc.phones import Spoken
from shared.carriers.smpp.numbers import Command, Tag
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, tlv

AGAIN = 1.0
"""Seconds after which a refused receipt comes again."""
DELIVERED, UNDELIVERED = ("DELIVRD", "000", b"\2"), ("UNDELIV", "001", b"\5")


class Due(NamedTuple):
    """A receipt: addresses as they were in the submit_sm, with type and plan and their NUL."""

    identity: str
    source: bytes
    destination: bytes
    delivered: bool

    def deliver_sm(self, sequence: int, now: str) -> bytes:
        """It as a PDU, in text (SMPP 3.4 appendix B) and in optional parameters. `now` is YYMMDDhhmm."""
        word, code, state = DELIVERED if self.delivered else UNDELIVERED
        dates = f"submit date:{now} done date:{now}"
        receipt_text = (
            f"id:{self.identity} sub:001 dlvrd:00{self.delivered:d} {dates} stat:{word} err:{code} text:".encode()
        )
        identity = tlv(Tag.RECEIPTED_MESSAGE_ID, self.identity.encode("latin-1") + b"\0")
        middle = b"\x04\0\0\0\0\0\0\0\0" + bytes((len(receipt_text),))
        body = b"\0" + self.destination + self.source + middle + receipt_text + identity + tlv(Tag.MESSAGE_STATE, state)
        return HEADER.pack(HEADER_SIZE + len(body), Command.DELIVER_SM, 0, sequence) + body


Delivery = Due | Spoken
"""What waits for a bind that takes it."""


class Receiver(Protocol):
    """A bind that takes receipts."""

    unanswered: dict[int, Delivery]

    def room(self) -> int:
        """How many more may be sent."""

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Send them."""


class Mailbox:
    """What waits for all binds with one system_id."""

    def __init__(self, loop: asyncio.AbstractEventLoop, delay: float, counts: Counts) -> None:
        self.receivers: list[Receiver] = []
        self._loop = loop
        self._delay = delay
        self._counts = counts
        self._due: deque[tuple[float, list[Delivery]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, receipts: list[Due]) -> None:
        """These are due after the delay."""
        self._counts.receipts_waiting += len(receipts)
        self._due.append((self._loop.time() + self._delay, [*receipts]))
        self._arm()

    def speak(self, parts: list[Spoken]) -> None:
        """A phone has sent these."""
        self._counts.inbound += len(parts)
        self.again([*parts], 0)

    def again(self, deliveries: list[Delivery], wait: float = AGAIN) -> None:
        """These were not taken."""
        if deliveries:
            at = self._loop.time() + wait
            self._due.append((at, deliveries))
            self._due = deque(sorted(self._due, key=lambda due: due[0]))
            self._arm()

    def pump(self) -> None:
        """Send what is due, as far as there is room."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self._loop.time()
        while self._due and self._due[0][0] <= now:
            receiver = max(self.receivers, key=lambda each: each.room(), default=None)
            room = receiver.room() if receiver is not None else 0
            if receiver is None or room <= 0:
                return  # a bind or an answer pumps again
            due, deliveries = self._due.popleft()
            if len(deliveries) > room:
                self._due.appendleft((due, deliveries[room:]))
            receiver.deliver(deliveries[:room])
        self._arm()

    def _arm(self) -> None:
        if self._timer is None and self._due:
            self._timer = self._loop.call_at(self._due[0][0], self.pump)


def clock() -> str:
    """Now, as receipts write it."""
    return f"{datetime.now(UTC):%y%m%d%H%M}"
