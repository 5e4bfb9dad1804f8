"""What tests of the driver are made with."""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from shared.carriers.smpp.constants import Tag
from shared.carriers.smpp.pdu import Message, message_body
from shared.carriers.unreadable import Unreadable
from shared.inbound import Inbound
from shared.sms.segments import segment
from worker.carriers.base import LateResponse, MessageGroup, Receipt, UnlimitedPace
from worker.carriers.smpp import SmppConfig

NOW = datetime(2026, 5, 4, 12, 30, 15, tzinfo=UTC)
USUAL = "id:0123456789 sub:001 dlvrd:001 submit date:2605041228 done date:2605041229 stat:DELIVRD err:000 text:Hello"
"""The text of a receipt as the standard has it."""


def config(**settings: Any) -> SmppConfig:
    """An account at nobody's carrier."""
    return SmppConfig.of({"host": "127.0.0.1", "system_id": "me", "password": "secret", **settings})


def message_group(text: str, phones: list[str], sender: str = "ACME", **fields: Any) -> MessageGroup:
    """Messages as the service hands them over: counted, with ids and an end."""
    counted = segment(text)
    values: dict[str, Any] = {
        "sender_id": sender,
        "text": text,
        "encoding": counted.encoding,
        "segments": counted.count,
        "expires_at": datetime.now(UTC) + timedelta(hours=72),
        "ids": [uuid4() for _ in phones],
        "phones": phones,
    }
    return MessageGroup(**{**values, **fields})


def usual_body(identity: bytes = b"0123456789") -> bytes:
    """A whole deliver_sm of the usual form."""
    tlvs = {Tag.RECEIPTED_MESSAGE_ID: identity + b"\0", Tag.MESSAGE_STATE: b"\2"}
    return message_body(Message("254711000000", "ACME", USUAL.encode(), esm_class=4, tlvs=tlvs))


class KeptInbox:
    """An inbox that keeps what a carrier delivers. `instead` are other methods."""

    def __init__(self, **instead: Any) -> None:
        self.receipts: list[Receipt] = []
        self.late: list[LateResponse] = []
        self.inbound: list[Inbound] = []
        self.unreadable: list[Unreadable] = []
        vars(self).update(instead)

    def store_receipts(self, receipts: list[Receipt]) -> None:
        """Keep them."""
        self.receipts += receipts

    def resolve_late(self, responses: list[LateResponse]) -> list[LateResponse]:
        """Keep them."""
        self.late += responses
        return []

    def store_inbound(self, messages: list[Inbound]) -> None:
        """Keep them."""
        self.inbound += messages

    def store_unreadable(self, deliveries: list[Unreadable]) -> None:
        """Keep them."""
        self.unreadable += deliveries

    def unmatched(self) -> dict[int, Receipt]:
        """None."""
        return {}

    def replace_unmatched(self, numbers: list[int], receipts: list[Receipt]) -> None:
        """Nothing was unmatched."""


class Doorkeeper:
    """A pace that lets so many segments leave, and then makes wait until it is opened, or for good."""

    chunk, allowed = 1, 1.0

    def __init__(self, left: int) -> None:
        self.left = left
        self.waiting = threading.Event()
        self.opened = threading.Event()

    def take(self, segments: int, deadline: float) -> bool:
        """Whether they may leave."""
        self.left -= segments
        if self.left >= 0:
            return True
        self.waiting.set()
        return self.opened.wait(max(0.0, deadline - time.monotonic()))

    def throttled(self, taken: float) -> None:
        """Nobody slows down."""


class Quota(UnlimitedPace):
    """A pace that lets so many segments leave, and then says at once that no more may. It keeps its deadlines."""

    chunk = 1

    def __init__(self, left: int) -> None:
        self.left = left
        self.deadlines: list[float] = []

    def take(self, segments: int, deadline: float) -> bool:
        """Whether they may leave."""
        self.deadlines.append(deadline)
        self.left -= segments
        return self.left >= 0
