"""One request and its response, as ASGI 3.0 describes them."""

import asyncio
import logging
import time
from collections.abc import MutableMapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import httptools

from api.http.receive import ClientGone, drain
from api.http.request import Headers, Receive, Scope, Send
from api.http.wsgi import WholeResponse
from api.server import limits
from api.server.connections import CLIENT_LEFT, Address, ClientConnection
from api.server.responses import early_problem

log = logging.getLogger(__name__)

STATUS_LINES = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n".encode() for each in HTTPStatus}
CLOSE = (b"connection", b"close")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PAUSE_AT = 64 * 1024
"""Bytes of a body that may wait for the application. Above that, the connection is not read."""


def head_bytes(status: int, headers: Headers) -> bytes:
    """The status line and headers on the wire. Raises ValueError for a line break in a header."""
    lines = [name + b": " + value + b"\r\n" for name, value in headers]
    head = b"".join([STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status, *lines, b"\r\n"])
    if not head.count(b"\n") == head.count(b"\r") == len(lines) + 2:
        raise ValueError("a header of the response has a line break")
    return head


@lru_cache(1)
def date_header(now: int) -> tuple[bytes, bytes]:
    """The header `Date` at a time in seconds since the epoch: it is formatted once a second."""
    return b"date", formatdate(now, usegmt=True).encode()


def scope_of(
    method: str, url: bytes, version: str, headers: Headers, client: Address | None, server: Address | None
) -> Scope:
    """The ASGI scope of a request. Raises UnicodeDecodeError or an error of httptools for an invalid URL."""
    parsed = httptools.parse_url(url)
    path = parsed.path or b"/"
    text = path.decode("ascii")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": version,
        "method": method,
        "scheme": "http",
        "path": unquote(text) if "%" in text else text,
        "raw_path": path,
        "query_string": parsed.query or b"",
        "root_path": "",
        "headers": headers,
        "client": client,
        "server": server,
    }


def response_bytes(response: WholeResponse) -> bytes:
    """A whole response as bytes of HTTP/1.1."""
    return head_bytes(response.status, response.headers) + response.body


async def whole_body(receive: Receive) -> bytes:
    """Receive a small body. Raises ClientGone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += bytes(message["body"])
        if not message["more_body"]:
            return body


async def send_whole(send: Send, receive: Receive, response: WholeResponse, unread: bool = False) -> None:
    """Send a response. If part of the request's body is `unread`, drain it before the connection closes.

    Closing earlier would reset the connection, and the client would lose the response.
    """
    await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": unread})
    if unread:
        await drain(receive)
        await send({"type": "http.response.body", "body": b""})


class Exchange:
    """A request and its response. The application runs in a task (ASGI 3.0, HTTP spec 2.3)."""

    def __init__(self, connection: ClientConnection, scope: Scope, keep_alive: bool, expects_continue: bool) -> None:
        self.connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        """Whether the connection stays open after the response."""
        self.more_body = True
        """Whether the request's body is incomplete."""
        self.response_started = self.response_complete = False
        self._disconnected = False
        """Whether the client has left or was refused."""
        self._expects_continue = expects_continue
        self._complete_at = 0.0
        """When the request was complete (monotonic); 0 if it was not when the response began."""
        self._body = bytearray()
        self._chunks = self._body_bytes = 0
        """Of the request's body, so far."""
        self._news = asyncio.Event()
        """Set when `_receive` has something to return."""
        self._head: tuple[int, Headers] = CLIENT_LEFT, []
        self._has_head = False
        self._sent_bytes = 0
        """Of the response's body."""
        self._has_body = self._is_chunked = False
        self._left: int | None = None
        """Bytes of the response's Content-Length that are not written yet."""

    def begin(self) -> None:
        """Start the application."""
        tasks = self.connection.state.tasks
        task = self.connection.loop.create_task(self._run())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def begin_chunk(self) -> bool:
        """A chunk of the body begins. Returns whether the chunks are too small."""
        self._chunks += 1
        return self._chunks > limits.FREE_CHUNKS + self._body_bytes // limits.MIN_CHUNK_BYTES

    def receive_body(self, data: bytes) -> None:
        """Part of the body has arrived."""
        self._body_bytes += len(data)
        if self.response_complete:
            return
        self._body += data
        if len(self._body) > PAUSE_AT:
            self.connection.pause_reading()
        self._news.set()

    def end_body(self) -> None:
        """The body is complete."""
        self.more_body = False
        self._complete_at = time.monotonic()
        self._news.set()

    def disconnect(self) -> None:
        """The application receives `http.disconnect`."""
        self._disconnected = True
        self._news.set()

    def _finish(self) -> None:
        """The response has been written."""
        self.response_complete = True
        self._news.set()
        if not self.keep_alive or self.more_body:  # nobody reads what is left of the body
            self.connection.close()
        self.connection.response_completed()

    async def _run(self) -> None:
        try:
            await self.connection.state.application(self.scope, self._receive, self._send)
            if not (self.response_complete or self._disconnected):
                raise RuntimeError("the application has not completed its response")
        except Exception:
            log.exception("a request failed outside of the application")
            self._fail()
        finally:
            if self.connection.state.on_end is not None:
                self.connection.state.on_end(self.scope, *self._head, self._seconds(), self._sent_bytes)

    def _fail(self) -> None:
        if self._disconnected or self.response_complete:
            return
        self.keep_alive = False
        if not self.response_started:
            failed = early_problem("internal_error", "Something went wrong on our side.", self.scope["path"])
            self._head = failed.status, failed.headers
            self._report(failed.status)
            self.response_started = True
            self.connection.transport.write(response_bytes(failed))
        self._finish()

    async def _receive(self) -> MutableMapping[str, Any]:
        if self._expects_continue and not self.response_started and not self.connection.transport.is_closing():
            self.connection.transport.write(CONTINUE)
        self._expects_continue = False
        if not (self._disconnected or self.response_complete):
            self.connection.resume_reading()
            await self._news.wait()
            self._news.clear()
        if self._disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        body, self._body = bytes(self._body), bytearray()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        await self.connection.writable()
        if self._disconnected:
            return
        if message["type"] == "http.response.start" and not self._has_head:
            self._head, self._has_head = (message["status"], list(message.get("headers", ()))), True
        elif message["type"] == "http.response.body" and self._has_head and not self.response_complete:
            self._send_body(bytes(message.get("body", b"")), message.get("more_body", False))
            await self.connection.writable()  # a large response holds its owner's share until it is taken
        else:
            raise RuntimeError(f"{message['type']} is not what an application may send now")

    def _send_body(self, body: bytes, more: bool) -> None:
        written = b"" if self.response_started else self._start()
        if not self._has_body:
            body = b""
        self._sent_bytes += len(body)
        if self._is_chunked:
            written += b"%x\r\n%s\r\n" % (len(body), body) if body else b""
            written += b"" if more else b"0\r\n\r\n"
        else:
            written += body
            self._count(len(body), more)
        self.connection.transport.write(written)
        if not more:
            self._finish()

    def _count(self, size: int, more: bool) -> None:
        """Hold the body to its Content-Length: clients would take the rest for the next response."""
        if self._left is None:
            return
        self._left -= size
        if self._left < 0 or (self._left and not more):
            raise RuntimeError("the body of the response is not as long as its Content-Length")

    def _start(self) -> bytes:
        status, headers = self._head
        known = {name.lower(): value for name, value in headers}
        if b"close" in known.get(b"connection", b"").lower():
            self.keep_alive = False
        elif not self.keep_alive:
            headers.append(CLOSE)
        self._has_body = has_body = self.scope["method"] != "HEAD" and status not in (204, 304)
        if b"content-length" in known:
            self._left = int(known[b"content-length"]) if has_body else None
        elif has_body and self.scope["http_version"] == "1.1":
            self._is_chunked = True
            headers.append((b"transfer-encoding", b"chunked"))
        elif has_body and self.keep_alive:  # to HTTP/1.0, the end of the connection is the end of the body
            self.keep_alive = False
            headers.append(CLOSE)
        head = head_bytes(status, [date_header(int(time.time())), *headers])
        self._report(status)
        self.response_started = True
        return head

    def _report(self, status: int) -> None:
        """Tell the observer of responses that one begins."""
        if self.connection.state.on_response is not None:
            self.connection.state.on_response(self.scope, status, self._seconds())

    def _seconds(self) -> float:
        """Seconds since the request was complete; 0 if it is not."""
        return time.monotonic() - self._complete_at if self._complete_at else 0.0
