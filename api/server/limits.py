"""Limits and deadlines of a connection, and what a client reads when it exceeds one."""

import asyncio
from collections.abc import Callable

MAX_CHUNK_OVERHEAD = 16 * 1024
"""Bytes of chunk sizes and chunk extensions that may arrive without a byte of the body itself."""
MIN_CHUNK_BYTES, FREE_CHUNKS = 64, 256
"""A body's chunks have so many bytes on average, but for the first ones: each chunk takes time, whatever its size."""
MAX_DISCARDED_BYTES = 256 * 1024
"""Bytes that are read and discarded after a request was refused. After them, the connection is not read any more."""
REQUEST_SECONDS = 20.0
"""For the head of a request, and then for a small body. The application times large bodies."""
READER_SECONDS = 60.0
"""For a client to take a response, when more than 64 kB are waiting or the connection is about to close."""
KEEP_ALIVE_SECONDS = 75.0
"""How long a connection stays open without a request."""
NOT_HTTP = "This is not a valid HTTP request (RFC 9112)."
TOO_SLOW = "The request did not arrive in time."
TRAILERS = "Trailers (headers after the body) are not accepted."
CHUNK_OVERHEAD = "The chunks of the body have too much overhead."
TINY_CHUNKS = f"The chunks of the body are too small. Send chunks of at least {MIN_CHUNK_BYTES} bytes."
UPGRADE = "A request that asks for another protocol (Upgrade, CONNECT) must not have a body."


class Deadline:
    """Calls a function after some seconds, unless it is stopped first."""

    __slots__ = ("_act", "_handle", "_loop", "_seconds")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, act: Callable[[], object]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._act: Callable[[], object] | None = act
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the timer, unless it is running."""
        if self._handle is None and self._act is not None:
            self._handle = self._loop.call_later(self._seconds, self._act)

    def stop(self) -> None:
        """Stop the timer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def close(self) -> None:
        """Stop for good, and drop the reference to the function."""
        self.stop()
        self._act = None
