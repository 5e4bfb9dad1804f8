"""Writing to one connection from several threads: whole PDUs, in the order in which the threads come."""

import threading
import time
from collections import deque

from worker.carriers.smpp.wire import TICK, Wire


class Writer:
    """The writing side of a connection. It knows what may have left, as only that may be in doubt."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._writing = threading.Lock()
        self._broken = False
        self._waiting: deque[bytes] = deque()

    def write(self, data: bytes, deadline: float) -> int:
        """Write all of it, or break the connection. Returns how many octets may have left.

        `deadline` is on the monotonic clock. A PDU that is cut off makes the connection useless, so that ends it.
        """
        if not self._writing.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return 0
        try:
            before = self._take_waiting()
            return max(0, self._push(before + data, deadline) - len(before))
        finally:
            self._writing.release()

    def say(self, data: bytes) -> None:
        """Write a little for the reader, who must not wait: now, or with what somebody else is writing."""
        self._waiting.append(data)
        self.say_now()

    def say_now(self, patience: float = 0.0) -> None:
        """Write what still waits, if nobody else is writing for longer than `patience` seconds."""
        if self._waiting and self._writing.acquire(timeout=patience):
            try:
                self._push(self._take_waiting(), time.monotonic() + 2 * TICK)
            finally:
                self._writing.release()

    def stop(self) -> None:
        """The connection is over: say why, if that is quick, and write no more."""
        self.say_now(TICK)
        self._broken = True

    def _take_waiting(self) -> bytes:
        taken = b""
        while self._waiting:
            taken += self._waiting.popleft()
        return taken

    def _push(self, data: bytes, deadline: float) -> int:
        view = memoryview(data)
        at = 0
        try:
            while at < len(data) and not self._broken:
                at += self._wire.write(view[at:])
                if at < len(data) and time.monotonic() > deadline:
                    self._broken = True
                    self._wire.close()
        except OSError:  # the reader sees it too, and takes what answers are still there
            self._broken = True
            return at + self._wire.most_left(len(data) - at)
        return at
