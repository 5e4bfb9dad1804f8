"""Receive bodies, within bounds: large ones spill to a temporary file, and must arrive at a minimum rate.

A body is received whole before its request gets a thread, so a slow client holds only its connection and one request of
its own account's or address's share (api/limits/bulkheads.py).
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from tempfile import SpooledTemporaryFile

from api.http.request import Receive
from api.problems import Problem

GRACE = 20.0
"""Seconds allowed for any body, whatever its size."""
MINIMUM_RATE = 8 * 1024
"""Bytes per second: each byte received extends the time allowed accordingly."""
DRAINED = 8 * 1024 * 1024
DRAIN_SECONDS = 5.0
"""Bounds for reading and discarding the rest of a refused body. Closing with unread data would reset the connection,
and the client would lose the response."""

_disk = ThreadPoolExecutor(2, "spool")


class ClientGone(Exception):
    """The client disconnected before its body was complete or its request was handled."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class NoSpace(Exception):
    """The body could not be written to a temporary file."""


class SpooledBody:
    """A larger body, in memory or in a temporary file, as `wsgi.input`."""

    def __init__(self, file: "SpooledTemporaryFile[bytes]", more: bool) -> None:
        self._file = file
        self._more = more
        self.read = file.read

    def unread(self) -> bool:
        """Whether part of the body was not received."""
        return self._more

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


class UnreadBody:
    """A body of more than `limit` bytes, of which none is passed on, as `wsgi.input`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def read(self, size: int = -1) -> bytes:
        """Raise Problem payload_too_large."""
        raise too_large(self._limit)

    def unread(self) -> bool:
        """Always true."""
        return True


def too_large(limit: int) -> Problem:
    """The 413 for a body of more than `limit` bytes."""
    return Problem("payload_too_large", f"The body is larger than {limit:,} bytes.", headers={"Connection": "close"})


async def whole_body(receive: Receive) -> bytes:
    """Receive a small body. Raises ClientGone."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body, more = body + message["body"], message["more_body"]
    return body


async def whole_body_in_time(receive: Receive) -> bytes:
    """Receive a small body. Raises ClientGone or TooSlow."""
    try:
        async with asyncio.timeout(GRACE):
            return await whole_body(receive)
    except TimeoutError:
        raise TooSlow from None


async def spooled_body(receive: Receive, limit: int, in_memory: int) -> SpooledBody:
    """Receive a body of up to `limit` bytes, of which `in_memory` stay in memory; stop soon after `limit` is passed.

    Raises ClientGone, TooSlow or NoSpace.
    """
    loop = asyncio.get_running_loop()
    file = SpooledTemporaryFile[bytes](in_memory)
    began, size, more = loop.time(), 0, True
    try:
        while more and size <= limit:
            async with asyncio.timeout_at(began + GRACE + size / MINIMUM_RATE):
                message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            chunk = bytes(message.get("body", b""))
            more, size = message.get("more_body", False), size + len(chunk)
            if size > in_memory:
                await loop.run_in_executor(_disk, file.write, chunk)
            else:
                file.write(chunk)
        file.seek(0)
    except BaseException as error:
        with suppress(OSError):  # it would write the rest first
            file.close()
        if isinstance(error, TimeoutError):
            raise TooSlow from None
        if isinstance(error, OSError):
            raise NoSpace from error
        raise
    return SpooledBody(file, more)


async def drain(receive: Receive) -> None:
    """Read and discard the rest of a body, within bounds."""
    left, more = DRAINED, True
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and left > 0:
                message = await receive()
                more = message.get("more_body", False)
                left -= len(message.get("body", b""))
    except TimeoutError:
        pass
