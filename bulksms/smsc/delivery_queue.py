"""Queues receipts and inbound messages of one account, and delivers each to one of its binds until it is answered."""

import asyncio
from collections import deque
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from bulksms.smsc.inbound import InboundPart
from bulksms.smsc.records import Counts
from shared.carriers.smpp.constants import Command, Tag
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, tlv

RETRY_SECONDS = 1.0
"""Delay before a refused receipt is delivered again."""
DELIVERED, UNDELIVERED = ("DELIVRD", "000", b"\2"), ("UNDELIV", "001", b"\5")


class Receipt(NamedTuple):
    """A receipt. Addresses are as in the submit_sm, with type, plan and terminating NUL."""

    identity: str
    source: bytes
    destination: bytes
    delivered: bool

    def deliver_sm(self, sequence: int, now: str) -> bytes:
        """The PDU, with the receipt as text (SMPP 3.4 appendix B) and as optional parameters. `now` is YYMMDDhhmm."""
        word, code, state = DELIVERED if self.delivered else UNDELIVERED
        dates = f"submit date:{now} done date:{now}"
        receipt_text = (
            f"id:{self.identity} sub:001 dlvrd:00{self.delivered:d} {dates} stat:{word} err:{code} text:".encode()
        )
        identity = tlv(Tag.RECEIPTED_MESSAGE_ID, self.identity.encode("latin-1") + b"\0")
        middle = b"\x04\0\0\0\0\0\0\0\0" + bytes((len(receipt_text),))
        body = b"\0" + self.destination + self.source + middle + receipt_text + identity + tlv(Tag.MESSAGE_STATE, state)
        return HEADER.pack(HEADER_SIZE + len(body), Command.DELIVER_SM, 0, sequence) + body


Delivery = Receipt | InboundPart
"""A queued deliver_sm."""


class Receiver(Protocol):
    """A bind that receives deliveries."""

    @property
    def room(self) -> int:
        """How many more deliveries may be unanswered."""

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Send the deliveries."""


class DeliveryQueue:
    """The deliveries for all binds with one system_id."""

    def __init__(self, loop: asyncio.AbstractEventLoop, delay: float, counts: Counts) -> None:
        self.receivers: list[Receiver] = []
        self.delay = delay
        """Seconds after which a new receipt is due."""
        self._loop = loop
        self._counts = counts
        self._due: deque[tuple[float, list[Delivery]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def add(self, receipts: list[Receipt]) -> None:
        """Queue receipts, due after the delay."""
        self._counts.receipts_waiting += len(receipts)
        self._queue(self._loop.time() + self.delay, [*receipts])

    def add_inbound(self, parts: list[InboundPart]) -> None:
        """Queue a message from a phone."""
        self._counts.inbound += len(parts)
        self.retry([*parts], 0)

    def retry(self, deliveries: list[Delivery], wait: float = RETRY_SECONDS) -> None:
        """Queue deliveries that were refused or not answered."""
        if deliveries:
            self._queue(self._loop.time() + wait, deliveries)

    def pump(self) -> None:
        """Send what is due, as far as the binds have room."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self._loop.time()
        while self._due and self._due[0][0] <= now:
            receiver = max(self.receivers, key=lambda each: each.room, default=None)
            room = receiver.room if receiver is not None else 0
            if receiver is None or room <= 0:
                return  # the next bind or response calls pump again
            due, deliveries = self._due.popleft()
            if len(deliveries) > room:
                self._due.appendleft((due, deliveries[room:]))
            receiver.deliver(deliveries[:room])
        self._arm()

    def _queue(self, at: float, deliveries: list[Delivery]) -> None:
        is_last = not self._due or self._due[-1][0] <= at
        self._due.append((at, deliveries))
        if not is_last:
            self._due = deque(sorted(self._due, key=lambda due: due[0]))
        self._arm()

    def _arm(self) -> None:
        if not self._due or (self._timer is not None and self._timer_at <= self._due[0][0]):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = self._due[0][0]
        self._timer = self._loop.call_at(self._timer_at, self.pump)


def clock() -> str:
    """The current time in the format of receipts."""
    return f"{datetime.now(UTC):%y%m%d%H%M}"
