"""Inbound messages that the carrier delivers again, because the response to the first delivery was lost.

It may have been, if the connection ended and nothing came over it after the message was stored. The same octets on
another connection, shortly afterwards, are then the same message. Otherwise they are another one: people do write "YES"
twice.
"""

import hashlib
import time
from collections import OrderedDict
from typing import Final

from worker.carriers.smpp.session import Session

KEPT_SECONDS: Final = 600.0
MOST: Final = 20_000


class Repetitions:
    """The inbound messages of the last minutes. Not thread-safe."""

    def __init__(self) -> None:
        self._stored: OrderedDict[bytes, tuple[Session, float]] = OrderedDict()

    def add(self, session: Session, body: bytes) -> None:
        """A delivery was stored, and is about to be acknowledged."""
        now = time.monotonic()
        self._stored[_digest(body)] = session, now
        self._stored.move_to_end(_digest(body))
        while self._stored and (len(self._stored) > MOST or next(iter(self._stored.values()))[1] < now - KEPT_SECONDS):
            self._stored.popitem(last=False)

    def is_repeated(self, session: Session, body: bytes) -> bool:
        """Whether a delivery repeats a message that is stored."""
        first, stored_at = self._stored.get(_digest(body), (session, 0.0))
        if first is session or first.ended_at is None or stored_at < time.monotonic() - KEPT_SECONDS:
            return False
        return first.heard_at <= stored_at


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()
