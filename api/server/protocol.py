"""One HTTP/1.1 connection (RFC 9112), on the parser of httptools, with limits on everything that arrives.

Input that is not valid HTTP gets problem details, like every other error, after the responses to earlier requests.
"""

import asyncio
from collections import deque
from functools import partial
from typing import Any, cast

import httptools

from api.event_loop import Deadline
from api.http import request
from api.http.client_address import address_block
from api.http.json_body import SMALL_BODY
from api.http.receive import DRAIN_SECONDS
from api.http.request import Headers
from api.server import limits
from api.server.connections import ServerState
from api.server.exchange import Exchange, response_bytes, scope_of
from api.server.responses import early_problem

VERSIONS = ("1.0", "1.1")


class HttpConnection(asyncio.Protocol):
    """One connection of a client."""

    transport: asyncio.Transport

    def __init__(self, state: ServerState) -> None:
        self.state = state
        self.loop = asyncio.get_running_loop()
        self._parser: Any = httptools.HttpRequestParser(self)
        # Ignore data after a request with `Connection: close`; it is not an error.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._peer: tuple[str, int] | None = None
        self._address = ""
        self._waiting: deque[Exchange] = deque()
        """Pipelined requests, whose turn has not come yet."""
        self._current: Exchange | None = None
        """The latest request whose head is complete."""
        self._active: Exchange | None = None
        """The request that is being handled."""
        self._url = b""
        self._headers: Headers = []
        self._expects_continue = False
        self._in_head = True
        """Whether the next head is awaited or arriving. Headers that the parser reports later are trailers."""
        self._unused = 0
        """Bytes received since the last byte of a body, or since the current head began."""
        self._progressed = False
        """Whether the data just received resets this count."""
        self._wrong = ""
        """What is wrong with the request, for errors that the parser does not detect."""
        self._failed = False
        """Whether all further input is discarded."""
        self._discarded = 0
        self._request_deadline = Deadline(self.loop, limits.REQUEST_SECONDS, partial(self._refuse, limits.TOO_SLOW))
        self._reader_deadline = Deadline(self.loop, limits.READER_SECONDS, lambda: self.transport.abort())
        self._idle_deadline = Deadline(self.loop, limits.KEEP_ALIVE_SECONDS, self.close)
        self._reading_paused = False
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self.transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self._peer = (str(peer[0]), int(peer[1])) if peer else None
        self._address = self._peer[0] if self._peer else ""
        self.state.connections.add(self)
        if not self.state.connection_limits.add(self, self._address):
            self._failed = True
            detail = "Too many connections are open from your address."
            self.transport.write(response_bytes(early_problem("rate_limited", detail, "")))
            self.close()
            return
        self._request_deadline.start()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended, by the client or by us."""
        for deadline in (self._request_deadline, self._reader_deadline, self._idle_deadline):
            deadline.close()
        self.state.connections.discard(self)
        self.state.connection_limits.remove(self, self._address)
        for exchange in (self._active, self._current, *self._waiting):
            if exchange is not None:
                exchange.disconnect()
        self._waiting.clear()
        self._current = self._active = None
        self._writable.set()
        self._parser = None  # it refers to this connection: break the cycle

    def pause_writing(self) -> None:
        """The client reads more slowly than we write. It has READER_SECONDS to catch up."""
        self._writable.clear()
        self._reader_deadline.start()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._writable.set()
        if not self.transport.is_closing():
            self._reader_deadline.stop()

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, and check the limits."""
        if self._failed:
            self._discarded += len(data)
            if self._discarded > limits.MAX_DISCARDED_BYTES:
                self.transport.pause_reading()
            return
        self._progressed = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._failed = True  # we support no other protocol, and what follows is not HTTP
            self.shut_down()
        except httptools.HttpParserError:
            self._refuse(self._wrong or limits.NOT_HTTP)
        else:
            self._unused = 0 if self._progressed else self._unused + len(data)
            self._check_progress()

    # Callbacks of the parser. What they raise reaches `data_received` as an error of the parser.

    def on_message_begin(self) -> None:
        """The first byte of a request has arrived."""
        self._idle_deadline.stop()
        self._url, self._headers, self._expects_continue = b"", [], False
        self._in_head = self._progressed = True

    def on_url(self, url: bytes) -> None:
        """Part of the URL has arrived."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header or a trailer has arrived."""
        if not self._in_head or len(self._headers) >= request.MAX_HEADERS:
            self._wrong = request.TOO_LARGE if self._in_head else limits.TRAILERS
            raise ValueError("refused")
        name, value = name.lower(), value.rstrip(b" \t")
        if name == b"expect" and value.lower() == b"100-continue":
            self._expects_continue = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete: handle the request now, or after the earlier ones."""
        version = self._parser.get_http_version()
        self._wrong = request.problem_of_head(self._url, self._headers, version)
        if self._wrong or version not in VERSIONS:
            raise ValueError("refused")
        if self.transport.is_closing():
            raise ValueError("the connection is closing")
        if self._parser.should_upgrade() and request.announced_length(self._headers) != 0:
            self._wrong = limits.UPGRADE  # the parser would skip the body
            raise ValueError("refused")
        if len(self._waiting) >= request.MAX_PIPELINED:
            raise ValueError("too many requests wait")
        self._in_head = False
        self._request_deadline.stop()
        before = self._current
        keep_alive = version == "1.1" and self._parser.should_keep_alive()
        method = self._parser.get_method().decode("ascii")
        scope = scope_of(method, self._url, version, self._headers, self._peer, self.state.address)
        expects_continue = self._expects_continue and version == "1.1"  # RFC 9110 §10.1.1
        self._current = Exchange(self, scope, keep_alive, expects_continue)
        if before is None or before.response_complete:
            self._active = self._current
            self._active.begin()
        else:
            self.pause_reading()
            self._waiting.append(self._current)

    def on_chunk_header(self) -> None:
        """The size of a chunk has arrived."""
        if self._current is not None and self._current.begin_chunk():
            self._wrong = limits.TINY_CHUNKS
            raise ValueError("refused")

    def on_body(self, body: bytes) -> None:
        """Part of the body has arrived."""
        self._progressed = True
        assert self._current is not None
        self._current.receive_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._request_deadline.stop()
        assert self._current is not None
        self._current.end_body()

    # Called by exchanges and by the process.

    def pause_reading(self) -> None:
        """Stop reading from the client."""
        if not self._reading_paused and not self.transport.is_closing():
            self._reading_paused = True
            self._request_deadline.stop()
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Read from the client again."""
        if self._reading_paused and not self.transport.is_closing():
            self._reading_paused = False
            self.transport.resume_reading()
            self._time_arrival()

    async def writable(self) -> None:
        """Wait until the client has read enough of what was sent."""
        await self._writable.wait()

    def response_completed(self) -> None:
        """A response has been written: start the next request, or become idle."""
        if self.transport.is_closing():
            return
        if self._waiting:
            self._active = self._waiting.popleft()
            self._active.begin()
        elif not self._in_head:
            self._idle_deadline.start()
        if not self._waiting:
            self.resume_reading()

    def close(self) -> None:
        """Close the connection when the client has read what was sent, for which it has READER_SECONDS."""
        self.transport.close()
        self._reader_deadline.start()

    def end_if_idle(self) -> bool:
        """End the connection if no request is under way. Returns whether it did."""
        if self.transport.is_closing() or self._is_busy:
            return False
        self.transport.abort()
        return True

    def shut_down(self) -> None:
        """Close the connection, after the response to any request that is under way."""
        if not self._is_busy:
            self.close()
        elif self._current is not None:
            self._current.keep_alive = False

    @property
    def _is_busy(self) -> bool:
        return self._current is not None and not self._current.response_complete

    def _check_progress(self) -> None:
        """Refuse a request that is too large, or time the rest of it."""
        in_body = not self._in_head and self._current is not None and self._current.more_body
        if self._in_head and self._unused > request.MAX_HEAD_BYTES:
            self._refuse(request.TOO_LARGE)
        elif in_body and self._unused > limits.MAX_CHUNK_OVERHEAD:
            self._refuse(limits.CHUNK_OVERHEAD)
        else:
            self._time_arrival()

    def _time_arrival(self) -> None:
        """Start or stop the deadline for the rest of a request. It does not run while reading is paused."""
        if self._failed or self._reading_paused:
            self._request_deadline.stop()
        elif self._in_head:
            self._request_deadline.start()
        elif self._current is None or not self._current.more_body:
            self._request_deadline.stop()
        elif request.is_small(self._headers, SMALL_BODY):
            self._request_deadline.start()

    def _refuse(self, detail: str) -> None:
        """Stop reading, respond once with what is wrong, and close the connection."""
        self._failed = True
        self._request_deadline.stop()
        current = self._current
        if current is not None and not current.response_complete:
            if not current.more_body:
                self.shut_down()
                return
            current.disconnect()
        if current in self._waiting:  # drop it, and close the connection after the response before it
            self._waiting.pop()
            if (last := self._waiting[-1] if self._waiting else self._active) is not None:
                last.keep_alive = False
        elif self.transport.is_closing() or (current is not None and current.response_started):
            self.close()
        elif delay := self.state.refusals.delay(address_block(self._address), 400):
            self.transport.pause_reading()
            self.loop.call_later(delay, self._respond_and_close, detail)
        else:
            self._respond_and_close(detail)

    def _respond_and_close(self, detail: str) -> None:
        self.transport.write(response_bytes(early_problem("bad_request", detail, "")))
        if self.transport.can_write_eof():
            self.transport.write_eof()  # closing now would reset the connection and lose the response
            self.transport.resume_reading()
            self.loop.call_later(DRAIN_SECONDS, self.transport.abort)
        else:
            self.close()
