"""A TCP proxy on loopback that does to connections what networks do. Its faults can be changed while it runs.

    with Proxy(port_of_the_server) as proxy:
        connect("127.0.0.1", proxy.port)
        proxy.latency = 2.0

Each direction of each connection has a thread of its own; a thread that has read something looks at the faults before
it passes that on.
"""

import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Self

from bulksms.local.ports import LOOPBACK, free_port

CHUNK = 65_536
LOOK_SECONDS = 0.1
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that makes a close a reset."""


class Link:
    """One connection through the proxy: the client's socket and the server's."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.swallowed = False
        """Half-open: nothing is passed on any more, in either direction, and neither side gets an error."""
        self.ended = 0
        """How many of its two directions have ended."""

    def cut(self) -> None:
        """Reset both sides."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Proxy:
    """Listens on a free port and connects to `target`, a port on loopback."""

    def __init__(self, target: int, seed: int = 0) -> None:
        self.target = target
        self.port = free_port()
        self.latency = 0.0
        """Seconds by which each piece of data is delayed, in each direction."""
        self.corruption = 0.0
        """Share of the pieces from the server in which one byte is changed."""
        self.refusing = False
        """New connections are reset."""
        self.blackhole = False
        """Nothing is passed on, new connections are taken and get no response; what was read meanwhile is lost."""
        self.cuts = 0
        """How often a pattern was seen and the connection cut."""
        self._pattern: bytes | None = None
        self._deliver_pattern = False
        self._random = random.Random(seed)
        self._links: set[Link] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._listener = socket.create_server((LOOPBACK, self.port), backlog=512)
        self._threads = [self._thread(self._accept)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop, with every connection reset."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)

    def cut(self) -> None:
        """Reset every connection that there is; new ones are not affected."""
        with self._lock:
            links, self._links = self._links, set()
        for link in links:
            link.cut()

    def half_open(self) -> None:
        """Let every connection that there is be dead without a word to either side; new ones work."""
        with self._lock:
            for link in self._links:
                link.swallowed = True

    def cut_at(self, pattern: bytes, *, delivered: bool) -> None:
        """Cut each connection whose client sends the pattern: after it was passed on, or instead. Empty: no more."""
        self._deliver_pattern = delivered
        self._pattern = pattern or None

    def heal(self) -> None:
        """No fault any more. Connections that were swallowed by a blackhole stay as they are."""
        self.latency = self.corruption = 0.0
        self.refusing = self.blackhole = False
        self._pattern = None

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        with self._lock:
            return len(self._links)

    def _thread(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, name="proxy", daemon=True)
        thread.start()
        return thread

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                Link(client, client).cut()
                continue
            try:
                server = socket.create_connection((LOOPBACK, self.target), 5)
            except OSError:
                Link(client, client).cut()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                end.settimeout(LOOK_SECONDS)
            link = Link(client, server)
            with self._lock:
                self._links.add(link)
            self._thread(self._pass_on, link, client, server, False)
            self._thread(self._pass_on, link, server, client, True)

    def _pass_on(self, link: Link, source: socket.socket, sink: socket.socket, from_server: bool) -> None:
        try:
            while data := self._read(source):
                if self.latency:
                    time.sleep(self.latency)
                if self.blackhole:
                    link.swallowed = True
                if link.swallowed:
                    continue
                pattern = self._pattern
                cuts = pattern is not None and not from_server and pattern in data
                if cuts:
                    link.swallowed = True  # the answer
                if not cuts or self._deliver_pattern:
                    self._write(sink, self._corrupted(data) if from_server else data)
                if cuts:
                    self.cuts += 1
                    time.sleep(LOOK_SECONDS)  # so that the server has worked on it before it hears of the end
                    link.cut()
                    break
        except OSError:
            pass
        with self._lock:
            link.ended += 1
            over = not link.swallowed or link.ended == 2
            if over:
                self._links.discard(link)
        if over:
            link.cut()

    def _read(self, source: socket.socket) -> bytes:
        """The next piece; empty at the end. A piece that was read into a blackhole is lost, its end is not."""
        while not self._closed.is_set():
            try:
                return source.recv(CHUNK)
            except TimeoutError:
                continue
        return b""

    def _write(self, sink: socket.socket, data: bytes) -> None:
        while data:
            with contextlib.suppress(TimeoutError):
                data = data[sink.send(data) :]
            if self._closed.is_set():
                return

    def _corrupted(self, data: bytes) -> bytes:
        if not self.corruption or self._random.random() >= self.corruption:
            return data
        place = self._random.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
