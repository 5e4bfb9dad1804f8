"""Keeps clients that send their bodies slowly from holding all of the API's threads.

A thread that waits for a body cannot be woken: the server gives it back only with the body, or with the connection's
end. So no more than half of the threads wait at a time, and who comes then is told to try again; and a thread of its
own ends the connections that a body has been awaited on for too long. The server does not tell which one that is: ended
are those of the client on which nothing was answered for as long.
"""

import contextlib
import logging
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from api.problems import Problem

log = logging.getLogger(__name__)

MOST = 16
"""Threads that may wait for bodies: half of those that Procfile gives a process."""
PATIENCE = 30.0
"""Seconds for a piece of a body, of 64 kB at most."""
CROWDED = 2.0
"""The same, while as many wait as may."""
LOOK = 0.5
WAIT = 0.15
"""Seconds for which one waits for its turn to read."""
LAST_DATA_SENT = 44
"""Offset in Linux's struct tcp_info of the milliseconds since we sent anything."""


DESCRIPTORS = Path("/proc/self/fd")


class Body:
    """A request's body, of which one piece at a time is read: what a WSGI server gives as `wsgi.input`."""

    __slots__ = ("_inner", "_readers", "address", "port", "since")

    def __init__(self, inner: Any, readers: "Readers", environ: dict[str, Any]) -> None:
        self._inner = inner
        self._readers = readers
        self.address = str(environ.get("REMOTE_ADDR", ""))
        self.port = str(environ.get("SERVER_PORT", ""))
        self.since = 0.0

    def read(self, size: int = -1) -> bytes:
        """A piece. Raises Problem unavailable while too many others wait for theirs."""
        self._readers.begin(self)
        try:
            piece: bytes = self._inner.read(size)
            return piece
        finally:
            self._readers.end(self)


class SlowBodies:
    """WSGI middleware. Where the system does not tell of connections (it is not Linux), slow ones are not ended."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app
        self._readers = Readers()
        if DESCRIPTORS.is_dir() and hasattr(socket, "TCP_INFO"):
            self._readers.start()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" in environ:
            environ["wsgi.input"] = Body(environ["wsgi.input"], self._readers, environ)
        return self._app(environ, start_response)


class Readers:
    """Who waits for a piece of a body, in one process."""

    def __init__(self) -> None:
        self._reading: set[Body] = set()

    def start(self) -> None:
        """Begin to look for those who wait too long, until the process ends."""
        threading.Thread(target=self._run, name="slow-bodies", daemon=True).start()

    def begin(self, body: Body) -> None:
        """A thread waits from now on. Raises Problem unavailable."""
        until = 0.0
        while len(self._reading) >= MOST:
            now = time.monotonic()
            until = until or now + WAIT
            if now >= until:
                headers = {"Retry-After": "1", "Connection": "close"}
                raise Problem("unavailable", "Too many requests come slowly at present.", headers=headers)
            time.sleep(WAIT / 10)
        body.since = time.monotonic()
        self._reading.add(body)

    def end(self, body: Body) -> None:
        """It has its piece."""
        self._reading.discard(body)

    def _run(self) -> None:
        while True:
            time.sleep(LOOK)
            if self._reading:
                try:
                    self.end_slow()
                except OSError:
                    log.exception("slow bodies could not be looked for")

    def end_slow(self) -> int:
        """End the connections of those who let us wait too long. Returns how many were ended."""
        reading = self._reading.copy()
        patience = CROWDED if len(reading) >= MOST else PATIENCE
        before = time.monotonic() - patience
        slow = {(body.address, body.port) for body in reading if body.since < before}
        return sum(_end_silent(slow, patience)) if slow else 0


def _end_silent(clients: set[tuple[str, str]], seconds: float) -> Iterator[int]:
    """End the connections from these addresses to these ports on which nothing was sent for as many seconds."""
    for descriptor in [int(path.name) for path in DESCRIPTORS.iterdir()]:
        with contextlib.suppress(OSError), _socket(descriptor) as connection:
            here, there = connection.getsockname(), connection.getpeername()
            if (there[0], str(here[1])) in clients and _silent_for(connection) >= seconds:
                connection.shutdown(socket.SHUT_RDWR)
                yield 1


def _socket(descriptor: int) -> socket.socket:
    """The TCP connection of a descriptor, by one of our own. Raises OSError where it is none."""
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        raise OSError("no socket")
    made = socket.socket(fileno=os.dup(descriptor))
    if made.family not in (socket.AF_INET, socket.AF_INET6):
        made.close()
        raise OSError("no connection of TCP")
    return made


def _silent_for(connection: socket.socket) -> float:
    """Seconds since anything was sent on it, or since it was opened."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAST_DATA_SENT + 4)
    (milliseconds,) = struct.unpack_from("I", info, LAST_DATA_SENT)
    return float(milliseconds) / 1000
