"""Receive requests, within bounds: check their heads, and receive their bodies.

A body is received whole before its request gets a thread, so a slow client holds only its connection and one request of
its own account's or address's share (api/limits/bulkheads.py). A large body spills to a temporary file and must arrive
at a minimum rate.
"""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from typing import Any

from api.http.request import Headers

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

MAX_HEAD_BYTES = 32 * 1024
"""Bytes of the whole head."""
MAX_LINE_BYTES = 8 * 1024
"""Bytes of the URL, or of one header."""
MAX_HEADERS = 100
MAX_PIPELINED = 100
"""Requests on one connection that may wait for the response to an earlier one. The connection ends after them."""
TOO_LARGE = (
    f"The head of the request is larger than {MAX_HEAD_BYTES:,} bytes, has more than {MAX_HEADERS} headers, or"
    f" a header of more than {MAX_LINE_BYTES:,} bytes."
)


GRACE = 20.0
"""Seconds allowed for any body, whatever its size."""
MINIMUM_RATE = 8 * 1024
"""Bytes per second: each byte received extends the time allowed accordingly."""
DRAINED = 8 * 1024 * 1024
DRAIN_SECONDS = 5.0
"""Bounds for reading and discarding the rest of a refused body. Closing with unread data would reset the connection,
and the client would lose the response."""

_disk = ThreadPoolExecutor(2, "spool")


def problem_of_head(url: bytes, headers: Headers, version: str) -> str:
    """Describe what is wrong with a head (RFC 9112 §3.2 and §6.1, and the sizes above); empty if it is valid."""
    size = longest = len(url)
    hosts = 0
    codings: list[bytes] = []
    for name, value in headers:
        length = len(name) + len(value)
        size += length
        if length > longest:
            longest = length
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding":
            codings.append(value)
    if hosts != 1 and (hosts or version == "1.1"):
        return f"The request has {hosts or 'no'} Host header{'s' if hosts else ''}; it must have exactly one."
    if codings and (version != "1.1" or len(codings) > 1 or codings[0].lower() != b"chunked"):
        return "The only supported Transfer-Encoding is `chunked`, given once, in HTTP/1.1."
    if size > MAX_HEAD_BYTES or longest > MAX_LINE_BYTES or len(headers) > MAX_HEADERS:
        return TOO_LARGE
    return ""


class Gone(Exception):
    """The client disconnected before its body was complete or its request was handled."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class Whole:
    """A small body, in memory, as `wsgi.input`."""

    __slots__ = ("data", "read", "size")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)
        self.read = io.BytesIO(data).read

    def unread(self) -> bool:
        """Whether part of the body was not received."""
        return False


class Spooled:
    """A larger body, in memory or in a temporary file, as `wsgi.input`."""

    def __init__(self, file: "SpooledTemporaryFile[bytes]", size: int, more: bool) -> None:
        self._file = file
        self.size = size
        self._more = more
        self.read = file.read

    def unread(self) -> bool:
        """Whether part of the body was not received."""
        return self._more

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


class Unread:
    """A body whose announced length is over the limit, so none of it is read, as `wsgi.input`."""

    size = 0

    def read(self, size: int = -1) -> bytes:
        """Return no bytes."""
        return b""

    def unread(self) -> bool:
        """Always true."""
        return True


def announced_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The announced length of a request's body in bytes; 0 without a body, None if unknown or malformed."""
    announced = b"0"
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            announced = value
    return int(announced) if announced.isdigit() else None


def is_small(headers: Iterable[tuple[bytes, bytes]], limit: int) -> bool:
    """Whether a request announces a body of at most `limit` bytes, or has none."""
    length = announced_length(headers)
    return length is not None and length <= limit


async def whole_body(receive: Receive) -> bytes:
    """Receive a small body. Raises Gone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += bytes(message["body"])
        if not message["more_body"]:
            return body


async def spooled_body(receive: Receive, limit: int, in_memory: int) -> Spooled:
    """Receive a body of up to `limit` bytes, of which `in_memory` stay in memory; stop soon after `limit` is passed.

    Raises Gone or TooSlow.
    """
    loop = asyncio.get_running_loop()
    file = SpooledTemporaryFile[bytes](in_memory)
    began, size, more = loop.time(), 0, True
    try:
        while more and size <= limit:
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
    return Spooled(file, size, more)


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
