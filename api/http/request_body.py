"""The bodies of requests, as they arrive.

All of a body is here before a thread is taken for its request: who sends slowly holds nothing but a connection, and a
place among the requests of its own account or address (api/limits/bulkheads.py). A large body goes to a temporary file
beyond what is kept of it in memory, and arrives at a minimum rate.
"""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

GRACE = 20.0
"""Seconds that any body may take."""
MINIMUM_RATE = 8 * 1024
"""Bytes per second at which it arrives besides."""
DRAINED = 8 * 1024 * 1024
DRAIN_SECONDS = 5.0
"""What is read of a body that nobody wants, so that its client reads the answer: with more to come the connection would
be reset, and the answer lost."""

_disk = ThreadPoolExecutor(2, "spool")


class Gone(Exception):
    """The client has left before its body was complete, or its turn had come."""


class TooSlow(Exception):
    """The body has not arrived in time."""


class Whole:
    """A small body, which is here: what WSGI calls `wsgi.input`."""

    __slots__ = ("data", "read")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.read = io.BytesIO(data).read

    def unread(self) -> bool:
        """Whether there may be more of it, which nobody will read."""
        return False


class Spooled:
    """A larger body, which is here or in a temporary file: what WSGI calls `wsgi.input`."""

    def __init__(self, file: "SpooledTemporaryFile[bytes]", more: bool) -> None:
        self._file = file
        self._more = more
        self.read = file.read

    def unread(self) -> bool:
        """Whether there is more of it than may be read."""
        return self._more

    def close(self) -> None:
        """Forget it."""
        self._file.close()


class Unread:
    """A body that is announced to be larger than any that is read: what WSGI calls `wsgi.input`."""

    def read(self, size: int = -1) -> bytes:
        """Nothing."""
        return b""

    def unread(self) -> bool:
        """All of it."""
        return True


def announced_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """How long the body of a request is said to be; 0 where there is none, None where nobody knows."""
    announced = b"0"
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            announced = value
    return int(announced) if announced.isdigit() else None


def is_small(headers: Iterable[tuple[bytes, bytes]], most: int) -> bool:
    """Whether the body of a request is announced, and has `most` bytes at most; or there is none."""
    length = announced_length(headers)
    return length is not None and length <= most


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


async def spooled_body(receive: Receive, most: int, in_memory: int) -> Spooled:
    """A body of `most` bytes, of which `in_memory` are kept there; of a larger one, a little more than `most`.

    Raises Gone or TooSlow.
    """
    loop = asyncio.get_running_loop()
    file = SpooledTemporaryFile[bytes](in_memory)
    began, size, more = loop.time(), 0, True
    try:
        while more and size <= most:
            async with asyncio.timeout_at(began + GRACE + size / MINIMUM_RATE):
                message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            chunk = bytes(message.get("body", b""))
            more, size = message.get("more_body", False), size + len(chunk)
            if size > in_memory:
                await loop.run_in_executor(_disk, file.write, chunk)
            else:
                file.write(chunk)
        file.seek(0)
    except TimeoutError:
        file.close()
        raise TooSlow from None
    except BaseException:
        file.close()
        raise
    return Spooled(file, more)


async def drain(receive: Receive) -> None:
    """Read what is left of a body, within bounds."""
    left, more = DRAINED, True
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and left > 0:
                message = await receive()
                more = message.get("more_body", False)
                left -= len(message.get("body", b""))
    except TimeoutError:
        pass
