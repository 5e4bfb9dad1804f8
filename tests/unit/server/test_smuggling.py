"""Requests that two servers could read differently: refused, and nothing behind them is handled."""

from typing import Any

import pytest

from tests.unit.server.test_protocol import HEAD, after

BEHIND = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"
ONE = HEAD + b"Content-Length: 1\r\n"

REFUSED = {
    "length and chunks": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": ONE + b"Content-Length: 2\r\n\r\naa",
    "the same length twice": ONE + b"Content-Length: 1\r\n\r\na",
    "a list of lengths": HEAD + b"Content-Length: 1, 1\r\n\r\na",
    "a signed length": HEAD + b"Content-Length: +1\r\n\r\na",
    "no length": HEAD + b"Content-Length:\r\n\r\n",
    "a length beyond 64 bits": HEAD + b"Content-Length: 18446744073709551617\r\n\r\na",
    "an empty coding": HEAD + b"Transfer-Encoding:\r\n\r\n0\r\n\r\n",
    "a coding after a vertical tab": HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a quoted coding": HEAD + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
    "chunked twice": CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and then identity": CHUNKED + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "identity and then chunked": HEAD + b"Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    "a folded coding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a space before the name": HEAD + b" Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a NUL": HEAD + b"Transfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n",
    "a folded header": HEAD + b"X-A: a\r\n b\r\n\r\n",
    "bare line feeds": b"POST /a HTTP/1.1\nHost: a\n\n",
    "a bare line feed": HEAD + b"X-A: a\nContent-Length: 1\r\n\r\na",
    "a bare carriage return": HEAD + b"X-A: a\rContent-Length: 1\r\n\r\na",
    "a head that ends with a line feed": ONE + b"\na",
    "a chunk size beyond 64 bits": CHUNKED + b"\r\n10000000000000001\r\na\r\n0\r\n\r\n",
    "a chunk size with 0x": CHUNKED + b"\r\n0x1\r\na\r\n0\r\n\r\n",
    "a negative chunk size": CHUNKED + b"\r\n-1\r\na\r\n0\r\n\r\n",
    "a chunk size with spaces": CHUNKED + b"\r\n1 \r\na\r\n0\r\n\r\n",
    "a line feed in an extension": CHUNKED + b"\r\n1;a\nb\r\na\r\n0\r\n\r\n",
    "a line break in a quoted extension": CHUNKED + b'\r\n1;a="\r\nb"\r\na\r\n0\r\n\r\n',
    "a chunk that ends with a line feed": CHUNKED + b"\r\n1\r\na\n0\r\n\r\n",
    "a chunk without an end": CHUNKED + b"\r\n1\r\na0\r\n\r\n",
    "another version": b"GET /a HTTP/1.2\r\nHost: a\r\n\r\n",
    "no version": b"GET /a\r\n\r\n",
    "CONNECT": b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
}
ALONE = {
    "HTTP/1.0": b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "close": HEAD + b"Connection: close\r\n\r\n",
    "another protocol": HEAD + b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n",
}
"""Requests that are handled, and the last ones of their connection."""


async def path(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the path."""
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    if message["type"] == "http.request":
        headers = [(b"content-length", b"%d" % len(scope["path"]))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": scope["path"].encode()})


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in REFUSED.items()])
@pytest.mark.parametrize("bytewise", [False, True])
def test_an_ambiguous_request_is_refused(data: bytes, bytewise: bool) -> None:
    chunks = [bytes([byte]) for byte in data + BEHIND] if bytewise else [data + BEHIND]
    seen = after(*chunks, application=path)
    assert seen.written.startswith(b"HTTP/1.1 400 ") and seen.written.count(b"HTTP/1.1 ") == 1
    assert seen.closed and b"/smuggled" not in seen.written


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in ALONE.items()])
@pytest.mark.parametrize("bytewise", [False, True])
def test_nothing_is_handled_behind_the_last_request(data: bytes, bytewise: bool) -> None:
    chunks = [bytes([byte]) for byte in data + BEHIND] if bytewise else [data + BEHIND]
    seen = after(*chunks, application=path)
    assert seen.written.count(b"HTTP/1.1 ") == 1 and seen.written.endswith(b"/a") and seen.closed
