"""Bodies that come slowly: how long they are awaited, and how many threads wait for them."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from api import slow_bodies
from api.problems import Problem
from api.slow_bodies import Body, Gone, Readers, is_small, whole_body

GONE = {"type": "http.disconnect"}


def piece(data: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


class Client:
    """Sends these messages, and then nothing."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._messages = list(messages)

    async def __call__(self) -> dict[str, Any]:
        if not self._messages:
            await asyncio.sleep(60)
        return self._messages.pop(0)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that runs in a thread of its own."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


@pytest.mark.parametrize(
    ("headers", "small"),
    [
        ([], True),
        ([(b"content-length", b"0")], True),
        ([(b"x", b"y"), (b"content-length", b"65536")], True),
        ([(b"content-length", b"65537")], False),
        ([(b"content-length", b"-1")], False),
        ([(b"transfer-encoding", b"chunked")], False),
        ([(b"content-length", b"5"), (b"transfer-encoding", b"chunked")], False),
    ],
)
def test_which_bodies_are_small(headers: list[tuple[bytes, bytes]], small: bool) -> None:
    assert is_small(headers, 65_536) == small


def test_a_small_body_is_read_to_its_end() -> None:
    assert asyncio.run(whole_body(Client(piece(b"ab"), piece(b""), piece(b"c", more=False)))) == b"abc"


def test_a_client_that_leaves_before_the_end() -> None:
    with pytest.raises(Gone):
        asyncio.run(whole_body(Client(piece(b"ab"), GONE)))


def test_a_large_body_is_read_piece_by_piece(loop: asyncio.AbstractEventLoop) -> None:
    body = Body(Client(piece(b"abc"), piece(b""), piece(b"de"), piece(b"", more=False)), Readers(2), loop)
    assert (body.read(2), body.unread(), body.read(2), body.read(), body.read(), body.unread()) == (
        b"ab",
        True,
        b"c",
        b"de",
        b"",
        False,
    )


def test_a_large_body_that_ends_with_its_client(loop: asyncio.AbstractEventLoop) -> None:
    body = Body(Client(piece(b"abc"), GONE), Readers(2), loop)
    assert (body.read(), body.unread()) == (b"abc", True)


def test_a_piece_that_does_not_come(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "PATIENCE", 0.05)
    monkeypatch.setattr(slow_bodies, "LOOK", 0.01)
    body = Body(Client(piece(b"abc")), Readers(2), loop)
    assert (body.read(3), body.read(3), body.unread()) == (b"abc", b"", True)


def test_no_more_threads_wait_than_may(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "WAIT", 0.05)
    readers = Readers(2)
    readers.begin()
    readers.begin()
    with pytest.raises(Problem) as refused:
        Body(Client(piece(b"abc", more=False)), readers, loop).read()
    assert (refused.value.code, refused.value.headers["Retry-After"]) == ("unavailable", "1")
    monkeypatch.setattr(slow_bodies, "WAIT", 10.0)
    threading.Timer(0.01, readers.end).start()
    assert Body(Client(piece(b"abc", more=False)), readers, loop).read() == b"abc"


def test_in_a_crowd_nobody_is_waited_for_long(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "CROWDED", 0.05)
    monkeypatch.setattr(slow_bodies, "LOOK", 0.01)
    readers = Readers(1)
    body = Body(Client(), readers, loop)
    assert body.read() == b""
    assert readers.patience() == slow_bodies.PATIENCE
