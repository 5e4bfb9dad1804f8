"""One TCP connection, plain or TLS, read by one thread and written by others.

A read waits at most TICK, so that its thread can service the link. A write tells how many octets may have been sent.
"""

import contextlib
import select
import socket
import ssl
import threading

TICK = 0.25
"""The longest that one read or write blocks without progress, in seconds."""
READ_SIZE = 131_072
RECORD = 16_384
"""The most octets of one TLS record. After a failed write, all of a record may have been sent."""


BLOCKED = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Wire:
    """A connection. OpenSSL's are not thread-safe, so a lock guards reads and writes, which never block in it."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        self._is_tls = isinstance(sock, ssl.SSLSocket)
        sock.setblocking(False)

    def read(self) -> bytes | None:
        """Received data; None if none came within TICK, b"" at end of stream. Raises OSError on failure."""
        data = self._try_read()
        if data is None:
            self._wait(select.POLLIN)
            data = self._try_read()
        return data

    def _try_read(self) -> bytes | None:
        with self._lock:
            try:
                return self._sock.recv(READ_SIZE)
            except BLOCKED:
                return None

    def write(self, data: memoryview) -> int:
        """Write some of the data. Returns the octets written; 0 if none could be within TICK. Raises OSError."""
        with self._lock:
            try:
                return self._sock.send(data[:RECORD] if self._is_tls else data)
            except BLOCKED:
                pass
        self._wait(select.POLLOUT)
        return 0

    def most_written(self, size: int) -> int:
        """The most octets that may have been sent by a write of `size` octets that raised.

        With TLS, OpenSSL may have taken a record before it failed. A failed plain send has sent nothing.
        """
        return min(size, RECORD) if self._is_tls else 0

    def close(self) -> None:
        """Close the connection; a read in another thread returns."""
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
    """Connect, and verify the certificate if there is a context. Raises OSError (ssl.SSLError is one)."""
    sock = socket.create_connection((host, port), timeout)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return Wire(sock if context is None else context.wrap_socket(sock, server_hostname=host))
    except BaseException:
        sock.close()
        raise
