"""How a simulated SMSC handles a submit, depending on the phone, the rate, and chance."""

import random
import time
from typing import NamedTuple

from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import pdu
from worker.carriers.simulator import (
    EARLY,
    FAILING,
    NEVER,
    REJECTED,
    SILENT,
    SILENT_TAKEN,
    SLOW,
    THROTTLED,
    TWICE,
    UNDELIVERED,
)


class Decision(NamedTuple):
    """How to handle a submit. Status 0 accepts it. `receipts` is the number of receipts, if it asks for one."""

    status: int = 0
    answered: bool = True
    taken: bool = True
    slow: bool = False
    receipts: int = 1
    early: bool = False
    delivered: bool = True
    drops: bool = False
    """Whether to break the connection."""
    garbage: bool = False
    """Whether to send a malformed PDU after it."""


DROPPING, GARBLED = "99911", "99912"
"""Prefixes that the built-in simulator does not have, as it has no connection."""

TAKEN = Decision()
LOST = Decision(answered=False)
TOO_FAST = Decision(Status.ESME_RTHROTTLED, taken=False)
MAGIC = {
    UNDELIVERED: Decision(delivered=False),
    REJECTED: Decision(Status.ESME_RINVDSTADR, taken=False),
    SLOW: Decision(slow=True),
    SILENT_TAKEN: LOST,
    SILENT: Decision(answered=False, taken=False),
    EARLY: Decision(early=True),
    TWICE: Decision(receipts=2),
    NEVER: Decision(receipts=0),
    FAILING: Decision(Status.ESME_RSYSERR, taken=False),
    DROPPING: Decision(answered=False, drops=True),
    GARBLED: Decision(garbage=True),
}

GARBAGE = (
    pdu(0x00000999, 0, 7, b"unknown command"),
    pdu(Command.SUBMIT_SM_RESP, 0, 0x7FFFFFF0, b"never-asked\0"),
    pdu(Command.ALERT_NOTIFICATION, 0, 9, b"\1\1" + b"254711000000\0\0\0\0"),
    pdu(Command.DELIVER_SM, 0, 0x7FFFFF01, b"\0\1\1no end"),
    pdu(Command.GENERIC_NACK, 3, 0),
    pdu(Command.DELIVER_SM, 0, 0x7FFFFF02, b""),
    pdu(0x80000888, 0, 12, b"\xff" * 40),
    pdu(Command.ENQUIRE_LINK, 0, 0x7FFFFF03, b"with a body"),
    b"\0\0\0\0" * 4,  # impossible lengths
    b"\0\0\0\3" + b"\0" * 12,
    b"\xff\xff\xff\xff" * 8,
)
"""Malformed PDUs that carriers send. A client must survive them all, some by reconnecting."""


class Behavior:
    """Decides about each submit. `plain` says whether all phones without a magic prefix are accepted."""

    def __init__(self, settings: SmscSettings) -> None:
        self._settings = settings
        self._random = random.Random(settings.seed)
        self._throttled: set[bytes] = set()
        self._tokens = settings.rate
        self._filled = time.monotonic()
        self.plain = not settings.rate and not settings.lose

    def decide(self, destination: bytes) -> Decision:
        """Decide about a submit to these digits."""
        if self._settings.rate and not self._token():
            return TOO_FAST
        magic = destination[:5].decode("latin-1")
        if magic == THROTTLED:
            if destination not in self._throttled:
                self._throttled.add(destination)
                return TOO_FAST
            self._throttled.discard(destination)
            return TAKEN
        if magic in MAGIC:
            return MAGIC[magic]
        return LOST if self._settings.lose and self._random.random() < self._settings.lose else TAKEN

    def _token(self) -> bool:
        now = time.monotonic()
        rate = self._settings.rate
        self._tokens = min(rate, self._tokens + (now - self._filled) * rate)
        self._filled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
