"""Bodies as they arrive: how long they are awaited, and how much of them is read."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest

from api.http import receive
from api.http.receive import ClientGone, NoSpace, TooSlow, drain, spooled_body, whole_body
from api.http.request import is_small, problem_of_head

GONE = {"type": "http.disconnect"}


def chunk(data: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


class Client:
    """Sends these messages, and then nothing."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.left = list(messages)

    async def __call__(self) -> dict[str, Any]:
        if not self.left:
            await asyncio.sleep(60)
        return self.left.pop(0)


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


def test_a_client_that_leaves_before_the_end() -> None:
    with pytest.raises(ClientGone):
        asyncio.run(whole_body(Client(chunk(b"ab"), GONE)))
    with pytest.raises(ClientGone):
        asyncio.run(spooled(Client(chunk(b"ab"), GONE)))


async def spooled(client: Client, most: int = 1_000, in_memory: int = 1_000) -> tuple[bytes, bool]:
    """What is there of a body, and whether there is more."""
    body = await spooled_body(client, most, in_memory)
    try:
        return body.read(), body.unread()
    finally:
        body.close()


@pytest.mark.parametrize("in_memory", [2, 1_000])
def test_a_large_body_is_passed_on_when_it_is_complete(in_memory: int) -> None:
    client = Client(chunk(b"abc"), chunk(b""), chunk(b"de"), chunk(b"", more=False))
    assert asyncio.run(spooled(client, in_memory=in_memory)) == (b"abcde", False)


def test_the_rest_of_a_body_that_is_too_large_is_not_read() -> None:
    client = Client(chunk(b"abc"), chunk(b"de"), chunk(b"f", more=False))
    assert asyncio.run(spooled(client, most=4)) == (b"abcde", True)


@pytest.mark.parametrize("size", [5, 100_000])
def test_a_body_for_which_there_is_no_room(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """A short one is written only at its end."""
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Path("/dev/full").open("w+b"))  # noqa: SIM115
    client = Client(chunk(b"abc"), chunk(b"a" * size), chunk(b"", more=False))
    with pytest.raises(NoSpace):
        asyncio.run(spooled(client, most=1_000_000, in_memory=2))


def test_a_body_that_never_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "GRACE", 0.05)
    with pytest.raises(TooSlow):
        asyncio.run(spooled(Client()))


def test_a_body_that_drips(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece comes each time in time: it is the rate that counts."""
    monkeypatch.setattr(receive, "GRACE", 0.1)

    class Dripping(Client):
        async def __call__(self) -> dict[str, Any]:
            await asyncio.sleep(0.02)
            return chunk(b"a")

    with pytest.raises(TooSlow):
        asyncio.run(spooled(Dripping()))


def test_the_more_has_come_the_longer_the_rest_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "GRACE", 0.01)
    monkeypatch.setattr(receive, "MINIMUM_RATE", 1)

    class Late(Client):
        async def __call__(self) -> dict[str, Any]:
            message = await super().__call__()
            if not message["more_body"]:
                await asyncio.sleep(0.1)
            return message

    assert asyncio.run(spooled(Late(chunk(b"a" * 100), chunk(b"b", more=False)))) == (b"a" * 100 + b"b", False)


def test_draining_an_unwanted_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "DRAINED", 5)
    monkeypatch.setattr(receive, "DRAIN_SECONDS", 0.05)
    endless = [chunk(b"abc") for _ in range(5)]
    client = Client(*endless)
    asyncio.run(drain(client))
    assert len(client.left) == 3
    asyncio.run(drain(Client(chunk(b"a"))))


def test_a_head_has_a_hundred_headers() -> None:
    headers = [(b"host", b"a"), *((b"x-a", b"b") for _ in range(99))]
    assert problem_of_head(b"/", headers, "1.1") == ""
    assert "more than 100 headers" in problem_of_head(b"/", [*headers, (b"x-a", b"b")], "1.1")
