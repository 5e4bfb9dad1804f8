"""Writes whole PDUs to one connection from several threads, in the order of the calls."""

import threading
import time
from collections import deque

from worker.carriers.smpp.wire import TICK, Wire


class Writer:
    """The writing side of a connection. It tells which octets may have been sent: only those can be in doubt."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._writing = threading.Lock()
        self._broken = False
        self._waiting: deque[bytes] = deque()

    def write(self, data: bytes, deadline: float) -> int:
        """Write all of it, or close the connection. Returns how many octets may have been sent.

        `deadline` is on the monotonic clock. A truncated PDU makes the connection useless, so it is closed then.
        """
        if not self._writing.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return 0
        try:
            before = self._take_waiting()
            return max(0, self._push(before + data, deadline) - len(before))
        finally:
            self._writing.release()

    def say(self, data: bytes) -> None:
        """Write for the reader, which must not block: now, or together with another thread's write."""
        self._waiting.append(data)
        self.say_now()

    def say_now(self, patience: float = 0.0) -> None:
        """Write queued data, unless another thread is still writing after `patience` seconds."""
        if self._waiting and self._writing.acquire(timeout=patience):
            try:
                self._push(self._take_waiting(), time.monotonic() + 2 * TICK)
            finally:
                self._writing.release()

    def stop(self) -> None:
        """Write queued data if that is quick, and nothing more after it."""
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
        except OSError:  # the reader sees it too, after it has read the remaining answers
            self._broken = True
            return at + self._wire.most_written(len(data) - at)
        return at
