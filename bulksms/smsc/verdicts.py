"""What a simulated SMSC does with one submit: by its phone, its rate, and by chance."""

import random
import time
from typing import NamedTuple

from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.numbers import Status
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


class Verdict(NamedTuple):
    """`status` 0 is taken. `receipts` counts those for a message that asks for one."""

    status: int = 0
    answered: bool = True
    taken: bool = True
    slow: bool = False
    receipts: int = 1
    early: bool = False
    delivered: bool = True
    drops: bool = False
    """Whether the connection breaks at it."""
    garbage: bool = False
    """Whether something follows that a client must survive."""


DROPPING, GARBLED = "99911", "99912"
"""More than the built-in simulated carrier knows: it has no connection."""

TAKEN = Verdict()
LOST = Verdict(answered=False)
TOO_FAST = Verdict(Status.ESME_RTHROTTLED, taken=False)
MAGIC = {
    UNDELIVERED: Verdict(delivered=False),
    REJECTED: Verdict(Status.ESME_RINVDSTADR, taken=False),
    SLOW: Verdict(slow=True),
    SILENT_TAKEN: LOST,
    SILENT: Verdict(answered=False, taken=False),
    EARLY: Verdict(early=True),
    TWICE: Verdict(receipts=2),
    NEVER: Verdict(receipts=0),
    FAILING: Verdict(Status.ESME_RSYSERR, taken=False),
    DROPPING: Verdict(answered=False, drops=True),
    GARBLED: Verdict(garbage=True),
}


class Judge:
    """Says what becomes of each submit. `plain` while every phone that is not magic is simply taken."""

    def __init__(self, settings: SmscSettings) -> None:
        self._settings = settings
        self._random = random.Random(settings.seed)
        self._throttled: set[bytes] = set()
        self._tokens = settings.rate
        self._filled = time.monotonic()
        self.plain = not settings.rate and not settings.lose

    def judge(self, destination: bytes) -> Verdict:
        """What becomes of a submit to these digits."""
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
