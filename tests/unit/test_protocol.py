"""Connections on which a request comes too slowly, or with too much before it."""

import asyncio
from typing import Any, NamedTuple

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from api import protocol
from api.protocol import MOST_HEAD, Protocol

HEAD = b"POST /a HTTP/1.1\r\nHost: a\r\n"


class Connection(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        """Keep it."""
        self.written += bytes(data)

    def close(self) -> None:
        """End it."""
        self.closed = True

    def is_closing(self) -> bool:
        """Whether it was ended."""
        return self.closed

    def pause_reading(self) -> None:
        """Nothing is read."""

    def resume_reading(self) -> None:
        """Nothing is read."""


async def length(scope: Any, receive: Any, send: Any) -> None:
    """Answers how long the body is."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    body = str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Seen(NamedTuple):
    """What a client sees of its connection."""

    written: bytes
    closed: bool


def after(*pieces: bytes, seconds: float = 0.0) -> Seen:
    """A connection on which these pieces came, one after the other, and then nothing for some seconds."""

    async def run() -> Seen:
        config = Config(length, lifespan="off", ws="none", interface="asgi3", log_config=None, server_header=False)
        config.load()
        made, connection = Protocol(config, ServerState(), {}, asyncio.get_running_loop()), Connection()
        made.connection_made(connection)
        for piece in pieces:
            made.data_received(piece)
            await asyncio.sleep(0)
        await asyncio.sleep(seconds)
        for _ in range(10):
            await asyncio.sleep(0)
        return Seen(connection.written, connection.closed)

    return asyncio.run(run())


def test_requests_that_come_whole_are_answered_and_the_connection_stays() -> None:
    request = HEAD + b"Content-Length: 3\r\n\r\nabc"
    connection = after(request, request[:20], request[20:])
    assert connection.written.count(b"HTTP/1.1 200 OK") == 2 and connection.written.endswith(b"3")
    assert not connection.closed


@pytest.mark.parametrize(
    "pieces",
    [(), (b"POST",), (HEAD,), (HEAD + b"Content-Length: 3\r\n\r\n",), (HEAD + b"Content-Length: 3\r\n\r\na", b"b")],
    ids=["nothing", "a word", "half a head", "no body", "half a body"],
)
def test_what_does_not_come_in_time_is_refused(pieces: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.05)
    connection = after(*pieces, seconds=0.2)
    assert connection.closed
    assert connection.written.startswith(b"HTTP/1.1 400 ") and b"did not come in time" in connection.written


def test_a_large_body_is_awaited_by_whoever_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.05)
    connection = after(HEAD + b"Content-Length: 70000\r\n\r\n", b"a", seconds=0.2)
    assert connection == (b"", False)


def test_a_head_without_an_end() -> None:
    connection = after(HEAD, *[b"X-A: " + b"a" * 1000 + b"\r\n"] * (MOST_HEAD // 1000 + 1))
    assert connection.closed and b"larger than 65,536 bytes" in connection.written


def test_what_follows_a_request_and_is_none_is_refused_after_its_answer() -> None:
    connection = after(HEAD + b"Content-Length: 3\r\n\r\nabc" + b"\0\0\0 nothing\r\n\r\n")
    assert connection.written.startswith(b"HTTP/1.1 200 OK") and connection.written.endswith(b"3")
    assert connection.closed and b"connection: close" in connection.written


def test_another_protocol_is_not_spoken() -> None:
    connection = after(HEAD + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n")
    assert connection.written.startswith(b"HTTP/1.1 200 OK") and connection.closed
