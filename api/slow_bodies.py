"""The bodies of requests, and clients that send them slowly.

A small body is awaited by the event loop: whoever sends it slowly holds nothing but a connection, and that not for long
(api/protocol.py). A larger one is read by the thread that handles the request, after it has seen who sends it. No more
than half of the threads wait for a piece at a time: who comes then is told to try again, and those who wait are given
less time.
"""

import asyncio
import io
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from api.problems import Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

PATIENCE = 30.0
"""Seconds for a piece of a large body."""
CROWDED = 2.0
"""Seconds for a piece, while as many threads wait as may."""
LOOK = 0.25
WAIT = 0.15
"""Seconds for which a thread waits until it may wait for a piece."""


class Gone(Exception):
    """The client has left before its body was complete."""


class Whole:
    """A small body, which is here: what WSGI calls `wsgi.input`."""

    __slots__ = ("data", "read")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.read = io.BytesIO(data).read

    def unread(self) -> bool:
        """Whether there may be more of it, which nobody will read."""
        return False


def is_small(headers: Iterable[tuple[bytes, bytes]], most: int) -> bool:
    """Whether the body of a request is announced, and has `most` bytes at most; or there is none."""
    announced = b"0"
    for name, value in headers:
        if name == b"transfer-encoding":
            return False
        if name == b"content-length":
            announced = value
    return announced.isdigit() and int(announced) <= most


async def whole_body(receive: Receive) -> bytes:
    """A small body. Raises Gone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += bytes(message["body"])
        if not message["more_body"]:
            return body


class Readers:
    """How many threads of one process wait for a piece of a body."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = threading.BoundedSemaphore(most)
        self._waiting = 0

    def begin(self) -> None:
        """A thread waits from now on. Raises Problem unavailable."""
        if not self._free.acquire(timeout=WAIT):
            headers = {"Retry-After": "1", "Connection": "close"}
            raise Problem("unavailable", "Too many requests come slowly at present.", headers=headers)
        self._waiting += 1

    def end(self) -> None:
        """It has its piece, or none."""
        self._waiting -= 1
        self._free.release()

    def patience(self) -> float:
        """Seconds that one may wait at present."""
        return CROWDED if self._waiting >= self._most else PATIENCE


class Body:
    """A body that is read piece by piece, in a thread: what WSGI calls `wsgi.input`."""

    def __init__(self, receive: Receive, readers: Readers, loop: asyncio.AbstractEventLoop) -> None:
        self._receive = receive
        self._readers = readers
        self._loop = loop
        self._here = b""
        self._more = True

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, or all; fewer where the body ends, or nothing comes any more.

        Raises Problem unavailable while too many others wait for theirs.
        """
        pieces: list[bytes] = []
        wanted = size if size >= 0 else sys.maxsize
        while wanted > 0 and (self._here or self._next()):
            piece, self._here = self._here[:wanted], self._here[wanted:]
            pieces.append(piece)
            wanted -= len(piece)
            if size >= 0:
                break
        return b"".join(pieces)

    def unread(self) -> bool:
        """Whether there may be more of it, which nobody will read."""
        return self._more

    def _next(self) -> bool:
        """Wait for the next piece. False where there is none."""
        while self._more and not self._here:
            message = self._awaited()
            if message is None:
                return False
            self._here = bytes(message.get("body", b""))
            self._more = bool(message.get("more_body", False))
        return bool(self._here)

    def _awaited(self) -> Message | None:
        """What the client sends next; None where it leaves, or lets us wait for too long."""
        self._readers.begin()
        future = asyncio.run_coroutine_threadsafe(_received(self._receive), self._loop)
        began = time.monotonic()
        try:
            while True:
                try:
                    message = future.result(LOOK)
                except TimeoutError:
                    if time.monotonic() - began > self._readers.patience():
                        future.cancel()
                        return None
                else:
                    return None if message["type"] == "http.disconnect" else message
        finally:
            self._readers.end()


async def _received(receive: Receive) -> Message:
    return await receive()
