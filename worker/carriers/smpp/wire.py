"""One TCP connection, plain or TLS, that one thread reads while others write.

A read waits for at most TICK, so that its thread can look after the link. A write says how many octets may have left.
"""

import contextlib
import select
import socket
import ssl
import threading
from typing import Protocol

TICK = 0.25
"""Seconds of one read or write without progress."""
READ_SIZE = 131_072
RECORD = 16_384
"""Octets of one TLS record: a write of these has left as a whole or may have."""


class Wire(Protocol):
    """A connection."""

    def read(self) -> bytes | None:
        """What has come; None if nothing did for a tick, b"" at the end. Raises OSError when it is broken."""

    def write(self, data: memoryview) -> int:
        """Write some of the data. Returns how many octets left; 0 if none could in a tick. Raises OSError."""

    def most_left(self, size: int) -> int:
        """How many octets may have left in a write of `size` that raised."""

    def close(self) -> None:
        """End the connection; a read under way in another thread ends."""


class PlainWire:
    """A TCP connection."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        sock.settimeout(TICK)

    def read(self) -> bytes | None:
        """What has come; None if nothing did for a tick, b"" at the end."""
        try:
            return self._sock.recv(READ_SIZE)
        except TimeoutError:
            return None

    def write(self, data: memoryview) -> int:
        """Write some of the data."""
        try:
            return self._sock.send(data)
        except TimeoutError:
            return 0

    def most_left(self, size: int) -> int:
        """None: a send that fails has taken nothing."""
        return 0

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()


class TlsWire:
    """A TLS connection. OpenSSL's are not for two threads at a time, so reads and writes take turns and never wait."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        sock.setblocking(False)

    def read(self) -> bytes | None:
        """What has come; None if nothing did for a tick, b"" at the end."""
        data = self._try_read()
        if data is None:
            self._wait(select.POLLIN)
            data = self._try_read()
        return data

    def _try_read(self) -> bytes | None:
        with self._lock:
            try:
                return self._sock.recv(READ_SIZE)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return None

    def write(self, data: memoryview) -> int:
        """Write some of the data."""
        with self._lock:
            try:
                return self._sock.send(data[:RECORD])
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
        self._wait(select.POLLOUT)
        return 0

    def most_left(self, size: int) -> int:
        """A record: OpenSSL may have taken it before it failed."""
        return min(size, RECORD)

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
        with self._lock:
            self._sock.close()

    def _wait(self, event: int) -> None:
        poll = select.poll()
        with contextlib.suppress(ValueError):
            poll.register(self._sock, event)
            poll.poll(TICK * 1000)


def connect(host: str, port: int, timeout: float, context: ssl.SSLContext | None) -> Wire:
    """Connect, and check the certificate when there is a context. Raises OSError (ssl.SSLError is one)."""
    sock = socket.create_connection((host, port), timeout)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return PlainWire(sock) if context is None else TlsWire(context.wrap_socket(sock, server_hostname=host))
    except BaseException:
        sock.close()
        raise
