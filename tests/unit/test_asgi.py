"""Requests on the event loop and in threads: what is called where, what is called again, and what is answered."""

import asyncio
import io
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from sqlalchemy.pool import QueuePool

from api import asgi
from api.asgi import Served
from api.from_asgi import environ_of
from api.loop import Call, WaitlessPool, Waits, go_on, make_again, need_a_thread, pause, this_call

Start = Callable[[str, list[tuple[str, str]]], object]
SEND = "/api/v1/sms/send"


def scope(path: str = SEND, method: str = "POST", headers: Iterable[tuple[bytes, bytes]] = ()) -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("latin-1"),
        "query_string": b"a=b",
        "headers": list(headers),
        "client": ("192.0.2.1", 4711),
        "server": ("127.0.0.1", 8000),
    }


async def answered(app: Callable[..., Iterable[bytes]], asked: dict[str, Any]) -> list[dict[str, Any]]:
    """What an application answers to a request without a body."""
    sent: list[dict[str, Any]] = []
    came = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not came:
            await asyncio.sleep(60)
        return came.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    await Served(app)(asked, receive, send)
    return sent


def ask(app: Callable[..., Iterable[bytes]], path: str = SEND) -> list[dict[str, Any]]:
    return asyncio.run(answered(app, scope(path)))


def answer(start: Start, body: bytes = b"ok") -> list[bytes]:
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


class Calls:
    """An application that notes where it is called, and does something there."""

    def __init__(self, does: Callable[[], object] = lambda: None) -> None:
        self.on_the_loop: list[bool] = []
        self._does = does

    def __call__(self, environ: dict[str, Any], start: Start) -> list[bytes]:
        self.on_the_loop.append(this_call() is not None)
        self._does()
        return answer(start)


def test_one_message_is_sent_on_the_loop_and_all_else_in_threads() -> None:
    app = Calls()
    for path in (SEND, "/api/v1/balance", f"{SEND}-bulk"):
        assert [message.get("status") for message in ask(app, path)] == [200, None]
    assert app.on_the_loop == [True, False, False]


def test_what_would_wait_is_made_again_in_a_thread() -> None:
    pool: QueuePool = WaitlessPool(lambda: FakeConnection(), reset_on_return=None)  # type: ignore[arg-type, return-value]
    app = Calls(lambda: pool.connect().close())
    assert ask(app)[0]["status"] == 200
    assert app.on_the_loop == [True, False]


class FakeConnection:
    """What a pool keeps."""

    def close(self) -> None:
        """Nothing is open."""


def elsewhere(call: Call) -> None:
    """A thread lets the call go on."""
    threading.Timer(0.01, go_on, [[call]]).start()


def current() -> Call:
    call = this_call()
    assert call is not None
    return call


def test_what_is_noted_of_a_request_is_known_when_it_is_made_again() -> None:
    """So that it is counted once."""
    noted: list[list[bool]] = []

    def app(environ: dict[str, Any], start: Start) -> list[bytes]:
        noted.append(environ.setdefault("noted", []))
        noted[-1].append(this_call() is not None)
        need_a_thread()
        return answer(start)

    assert ask(app)[0]["status"] == 200
    assert noted == [[True, False]] * 2


def test_a_call_that_paused_goes_on_and_is_not_made_again() -> None:
    def commit() -> None:
        elsewhere(current())
        pause(current())

    app = Calls(commit)
    assert ask(app)[0]["status"] == 200
    assert app.on_the_loop == [True]


def test_others_are_answered_while_one_is_paused() -> None:
    begun: list[Call] = []

    def app(_: dict[str, Any], start: Start) -> list[bytes]:
        begun.append(current())
        if len(begun) == 3:
            go_on(begun)  # it goes on itself after it has paused
        pause(current())
        return answer(start)

    async def three() -> list[list[dict[str, Any]]]:
        return await asyncio.wait_for(asyncio.gather(*(answered(app, scope()) for _ in range(3))), 10)

    assert [sent[0]["status"] for sent in asyncio.run(three())] == [200, 200, 200]


def test_after_its_commit_a_call_is_never_made_again() -> None:
    """It would send and charge twice. That it waits there is a mistake of ours, and an error."""

    def commit_and_wait() -> None:
        elsewhere(current())
        pause(current())
        raise Waits

    app = Calls(commit_and_wait)
    with pytest.raises(RuntimeError, match="after its commit"):
        ask(app)
    assert app.on_the_loop == [True]


def test_a_call_whose_commit_had_no_effect_is_made_again() -> None:
    def commit_in_vain() -> None:
        call = this_call()
        if call is not None:
            elsewhere(call)
            pause(call)
            make_again(call)

    app = Calls(commit_in_vain)
    assert ask(app)[0]["status"] == 200
    assert app.on_the_loop == [True, False]


def test_an_answer_without_a_length_is_sent_as_it_is_made() -> None:
    closed: list[bool] = []

    class Pieces:
        def __iter__(self) -> Iterator[bytes]:
            yield from (b"a", b"", b"b")

        def close(self) -> None:
            closed.append(True)

    def app(_: dict[str, Any], start: Start) -> Iterable[bytes]:
        start("200 OK", [("Content-Type", "text/csv")])
        return Pieces()

    sent = ask(app, "/api/v1/exports")
    assert [message.get("body") for message in sent] == [None, b"a", b"b", b""]
    assert sent[-1].get("more_body", False) is False and closed == [True]


def test_who_comes_when_too_many_are_under_way_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MOST_OPEN", 0)
    app = Calls()
    sent = ask(app)
    assert sent[0]["status"] == 503 and (b"retry-after", b"1") in sent[0]["headers"]
    assert b'"unavailable"' in sent[1]["body"] and app.on_the_loop == []


def test_what_wsgi_is_told_of_a_request() -> None:
    headers = [
        (b"content-type", b"text/csv"),
        (b"x-request-id", b"a"),
        (b"x-request-id", b"b"),
        (b"x_forwarded_for", b"203.0.113.1"),
        (b"x-latin", b"\xe9"),
    ]
    environ = environ_of(scope("/a%2Fb%C3%A9", "GET", headers), io.BytesIO())
    assert {name: value for name, value in environ.items() if not name.startswith("wsgi.")} == {
        "SCRIPT_NAME": "",
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/a/b\u00c3\u00a9",
        "QUERY_STRING": "a=b",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "192.0.2.1",
        "CONTENT_TYPE": "text/csv",
        "HTTP_X_REQUEST_ID": "a,b",
        "HTTP_X_LATIN": "\u00e9",
    }, "the header with underscores is nobody's"
