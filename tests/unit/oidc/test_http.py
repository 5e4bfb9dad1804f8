"""Requests to a provider that does not behave."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from aiohttp import ClientSession

from shared.oidc import http
from shared.oidc.http import ProviderUnavailable, Response, fetch, run

pytestmark = pytest.mark.usefixtures("patient_with_providers")

OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"


@contextmanager
def answering(*parts: bytes, then_close: bool = True) -> Iterator[str]:
    """A server that answers each connection with these bytes, and perhaps leaves it open."""
    listening = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            try:
                for part in parts:
                    connection.sendall(part)
                if then_close:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:  # the client has left
                continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(60)
        for each in kept:
            each.close()


def get(url: str) -> Response:
    async def one(session: ClientSession) -> Response:
        return await fetch(session, "GET", url)

    return run(one)


def test_it_works() -> None:
    with answering(OK % (7, b'{"a":1}')) as url:
        assert get(url) == Response(200, {"a": 1})


@pytest.mark.parametrize("body", [b"", b"[1]", b"<html>", b"[" * 100_000, b'{"a":"\\ud800"}'])
def test_a_response_that_is_not_an_object_is_read_as_empty(body: bytes) -> None:
    with answering(OK % (len(body), body)) as url:
        assert get(url) == Response(200, {})


def test_a_response_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 100)
    with answering(b"HTTP/1.1 200 OK\r\n\r\n", b"a" * 101) as url, pytest.raises(ProviderUnavailable, match="larger"):
        get(url)


@pytest.mark.parametrize("parts", [(), (b"HTTP/1.1 200 OK\r\n",), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",)])
def test_a_provider_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, parts: tuple[bytes, ...]) -> None:
    monkeypatch.setattr(http, "SECONDS", 0.3)
    with answering(*parts, then_close=False) as url, pytest.raises(ProviderUnavailable, match="does not answer within"):
        get(url)


@pytest.mark.parametrize(
    "head", [b"302 Found\r\nLocation: https://elsewhere.example", b"500 Internal Server Error", b"nonsense"]
)
def test_redirects_and_errors_are_not_accepted_as_responses(head: bytes) -> None:
    with (
        answering(b"HTTP/1.1 " + head + b"\r\nContent-Length: 0\r\n\r\n") as url,
        pytest.raises(ProviderUnavailable),
    ):
        get(url)


@pytest.mark.parametrize("url", ["http://id.example/", "file:///etc/passwd", "https://user@id.example/", "None"])
def test_other_addresses_are_not_tried(url: str) -> None:
    with pytest.raises(ProviderUnavailable, match="is not an https"):
        get(url)


def test_the_event_loop_is_never_blocked() -> None:
    async def on_loop() -> None:
        with pytest.raises(RuntimeError):
            get("http://127.0.0.1:9/")

    with pytest.warns(RuntimeWarning, match="never awaited"):
        asyncio.run(on_loop())
