"""Requests on the event loop and in threads: what is called where, what is called again, and what is answered."""

import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.pool import QueuePool

from api.event_loop import NeedsThread, ThreadOnlyPool, complete, is_on_event_loop
from api.http import receive
from api.http.receive import SpooledBody, spooled_body
from api.http.request import Receive, current_request
from api.http.responses import PendingResponse, Response
from api.http.wsgi import WholeResponse
from api.limits.bulkheads import (
    MAX_PER_ADDRESS,
    MAX_UNREAD_BYTES,
    OIDC_THREADS,
    PASSWORD_THREADS,
    WORKED_ON_OF_ACCOUNT,
)
from api.problems import Problem
from api.server import application as asgi
from api.server import thread_pools
from api.server.application import Application, Reply, is_for_event_loop
from tests.harness.on_the_loop import answered, handled, on_loop, scope

Start = Callable[[str, list[tuple[str, str]]], object]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No body is given up here."""
    monkeypatch.setattr(receive, "GRACE", 600.0)


def ask(app: Callable[..., Iterable[bytes]], path: str) -> list[dict[str, Any]]:
    """What is answered in a thread."""
    return asyncio.run(answered(Application(app), scope(path)))


def send(endpoint: Callable[[], Reply]) -> WholeResponse:
    """What an endpoint of its own event loop answers."""
    return asyncio.run(handled(Application(answer_in_thread, on_loop(endpoint))))


def answer(start: Start, body: bytes = b"ok") -> list[bytes]:
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def answer_in_thread(environ: dict[str, Any], start: Start) -> list[bytes]:
    return answer(start)


class Calls:
    """An application that notes where it is called, and does something there."""

    def __init__(self, does: Callable[[], object] = lambda: None) -> None:
        self.on_the_loop: list[bool] = []
        self._does = does

    def __call__(self, environ: dict[str, Any], start: Start) -> list[bytes]:
        self.on_the_loop.append(is_on_event_loop())
        self._does()
        return answer(start)

    def endpoint(self) -> Response:
        """The same without WSGI."""
        self.on_the_loop.append(is_on_event_loop())
        self._does()
        return Response(b"ok")


def test_only_loop_endpoints_are_called_on_the_loop_and_all_others_in_threads() -> None:
    app = Calls()
    assert send(app.endpoint).status == 200
    assert [message.get("status") for message in ask(app, "/api/v1/balance")] == [200, None]
    assert app.on_the_loop == [True, False]


def test_a_request_that_would_block_is_handled_again_in_a_thread() -> None:
    pool: QueuePool = ThreadOnlyPool(lambda: FakeConnection(), reset_on_return=None)  # type: ignore[arg-type, return-value]
    app = Calls(lambda: pool.connect().close())
    assert send(app.endpoint).status == 200
    assert app.on_the_loop == [True, False]


class FakeConnection:
    """What a pool keeps."""

    def close(self) -> None:
        """Nothing is open."""


class Sends:
    """An endpoint that answers later, with what `outcome` has then; at once where it is called in a thread."""

    def __init__(self, outcome: Callable[[], Callable[[], Response]], together: int = 1) -> None:
        self.on_the_loop: list[bool] = []
        self._outcome = outcome
        self._waiting: list[asyncio.Future[None]] = []
        self._together = together

    def __call__(self) -> Response | PendingResponse:
        self.on_the_loop.append(is_on_event_loop())
        if not is_on_event_loop():
            return Response(b"in a thread")
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ready)
        if len(self._waiting) == self._together:
            threading.Timer(0.01, complete, [self._waiting, lambda: None]).start()
            self._waiting = []
        return PendingResponse(current_request(), ready, self._outcome)


def made() -> Callable[[], Response]:
    return lambda: Response(b"later")


def test_a_response_that_is_ready_later_is_sent_then_and_made_once() -> None:
    sends = Sends(made)
    status, headers, body = send(sends)
    assert (status, headers[0], body) == (200, (b"content-length", b"5"), b"later")
    assert sends.on_the_loop == [True]


def test_others_are_handled_while_one_waits() -> None:
    sends = Sends(made, together=3)

    async def three() -> list[WholeResponse]:
        served = Application(answer_in_thread, on_loop(sends))
        return await asyncio.gather(*(handled(served) for _ in range(3)))

    assert [response.status for response in asyncio.run(three())] == [200] * 3


def test_after_its_commit_a_request_is_never_handled_again(caplog: pytest.LogCaptureFixture) -> None:
    """It would send and charge twice. That it blocks there is a mistake of ours, and an error."""

    def ring() -> Response:
        raise NeedsThread

    sends = Sends(lambda: ring)
    assert send(sends).status == 500
    assert "after its commit" in caplog.text and sends.on_the_loop == [True]


@pytest.mark.parametrize("committed", [False, True])
def test_a_failure_during_or_after_the_commit_is_an_internal_error(
    committed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It may have been committed: it is not handled again."""

    def fails() -> Any:
        raise ConnectionError("the database has gone")

    sends = Sends((lambda: fails) if committed else fails)
    made = send(sends)
    assert made.status == 500 and b'"internal_error"' in made.body
    assert (b"content-type", b"application/problem+json") in made.headers
    assert "the database has gone" in caplog.text and sends.on_the_loop == [True]


def test_a_problem_is_answered_in_its_shape_with_the_headers_of_every_response() -> None:
    def refuses() -> Response:
        raise Problem("low_balance", "Too little.", headers={"X-A": "b"})

    made = send(refuses)
    headers = dict(made.headers)
    assert (made.status, json.loads(made.body)["code"]) == (402, "low_balance")
    assert headers[b"x-a"] == b"b" and headers[b"x-content-type-options"] == b"nosniff"
    assert json.loads(made.body)["request_id"].encode() == headers[b"x-request-id"]


def test_a_request_whose_commit_had_no_effect_is_handled_again() -> None:
    def commit_in_vain() -> Callable[[], Response]:
        raise NeedsThread

    sends = Sends(commit_in_vain)
    assert send(sends).body == b"in a thread"
    assert sends.on_the_loop == [True, False]


def test_a_request_leaves_nothing_to_the_garbage_collector() -> None:
    """Its collections would stop the process for tens of milliseconds.

    In a process of its own: threads of other tests leave garbage.
    """
    program = f"from {__name__} import garbage_of_requests; print(garbage_of_requests())"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "0"


def garbage_of_requests() -> int:
    """How many unreachable objects twenty requests leave behind."""
    sends = Sends(made)

    async def several() -> int:
        served = Application(answer_in_thread, on_loop(sends))
        await handled(served)
        gc.collect()
        for _ in range(20):
            await handled(served)
        return gc.collect()

    gc.disable()
    return asyncio.run(several())


def test_a_response_without_a_length_is_sent_as_it_is_made() -> None:
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


def test_a_client_with_too_many_requests_under_way_must_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MAX_PER_ADDRESS", 0)
    app = Calls()
    sent = ask(app, "/api/v1/balance")
    for status, headers, body in ((sent[0]["status"], sent[0]["headers"], sent[1]["body"]), send(app.endpoint)):
        assert status == 429 and (b"retry-after", b"1") in headers and b'"rate_limited"' in body
    assert app.on_the_loop == []


def test_an_account_has_a_maximum_of_requests_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "MAX_PER_ACCOUNT", 1)

    async def run() -> None:
        sockets = Sockets(answer_in_thread, owner_of=lambda environ: 7)
        first = sockets.open("198.51.100.1", None)
        await asyncio.sleep(0)
        second = sockets.open("198.51.100.2")
        await second.task
        assert (first.status, second.status) == (0, 429)
        first.gone.set()
        await first.task

    asyncio.run(run())


class Sockets:
    """Requests of one application, each with a client that sends and reads as the test wants."""

    def __init__(self, app: Callable[..., Iterable[bytes]], **more: Any) -> None:
        self.served = Application(app, **more)
        self.tasks: list[asyncio.Task[None]] = []

    def open(self, address: str, body: Iterable[bytes] | None = (b"",), **more: Any) -> "Socket":
        """A request from an address; without a body it waits for one without end."""
        return Socket(self, address, body, **more)


class Socket:
    """One request, and what was sent to it."""

    def __init__(
        self,
        sockets: Sockets,
        address: str,
        body: Iterable[bytes] | None,
        path: str = "/api/v1/auth/token",
        announced: int | None = None,
        takes: bool = True,
        accept: bytes = b"*/*",
    ) -> None:
        length = (b"transfer-encoding", b"chunked") if announced is None else (b"content-length", b"%d" % announced)
        request = scope(path, headers=[length, (b"accept", accept)]) | {"client": (address, 4711)}
        self.sent: list[dict[str, Any]] = []
        self.gone = asyncio.Event()
        self._takes = takes
        self.left = list(body) if body is not None else None
        self.task = asyncio.ensure_future(sockets.served(request, self._receive, self._send))

    @property
    def status(self) -> int:
        """Of the response; 0 without one."""
        return int(self.sent[0]["status"]) if self.sent else 0

    async def _receive(self) -> dict[str, Any]:
        if self.left:
            return {"type": "http.request", "body": self.left.pop(0), "more_body": bool(self.left)}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if self.sent and not self._takes:
            await self.gone.wait()
        self.sent.append(message)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.005)


async def ended(sockets: Iterable[Socket]) -> set[int]:
    """Their statuses, when all of them are over."""
    every = list(sockets)
    await asyncio.gather(*(socket.task for socket in every))
    return {socket.status for socket in every}


async def left(sockets: Iterable[Socket]) -> set[int]:
    """The same, when their clients leave."""
    every = list(sockets)
    for socket in every:
        socket.gone.set()
    return await ended(every)


class Slow:
    """An application that notes the requests for some paths, and answers them only when it is released."""

    def __init__(self, *paths: str) -> None:
        self.held, self.worked, self.release = paths, list[tuple[str, str]](), threading.Event()

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path.rstrip("/") in self.held:
            self.worked.append((path, environ["REMOTE_ADDR"]))
            self.release.wait(120)
        return answer(start)


class Exports:
    """An application that makes an export without a length at one path, and counts those that have ended."""

    def __init__(self) -> None:
        self.closed = 0

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/export":
            return answer(start)
        start("200 OK", [("Content-Type", "text/csv")])
        return self

    def __iter__(self) -> Iterator[bytes]:
        return iter([b"a", b"b"])

    def close(self) -> None:
        """One of them has ended."""
        self.closed += 1


def test_silent_clients_delay_nobody_else() -> None:
    """As many as one address may have wait for a body; one more is refused, and others are answered."""

    async def run() -> None:
        sockets = Sockets(Calls())
        silent = [sockets.open("198.51.100.1", None) for _ in range(1_300)]
        await until(lambda: sum(socket.status == 429 for socket in silent) >= 1_300 - MAX_PER_ADDRESS)
        for number in range(10):
            assert await ended([sockets.open(f"203.0.113.{number}", announced=0)]) == {200}
        assert {socket.status for socket in silent} == {0, 429}
        await left(silent)
        assert await ended([sockets.open("198.51.100.1", announced=0)]) == {200}

    asyncio.run(run())


def test_bodies_that_come_slowly_hold_no_thread() -> None:
    async def run() -> None:
        sockets = Sockets(Calls())
        slow = [sockets.open(f"198.51.100.{number}", None, announced=60_000) for number in range(100)]
        slow += [sockets.open(f"192.0.2.{number}", None) for number in range(100)]
        assert await ended([sockets.open("203.0.113.1", [b"a" * 60_000, b""])]) == {200}
        assert [socket.status for socket in slow] == [0] * 200
        await left(slow)

    asyncio.run(run())


@pytest.mark.parametrize("announced", [None, 70_000])
def test_few_large_bodies_of_an_account_are_worked_on_at_the_same_time(announced: int | None) -> None:
    """Each takes some 50 MB when it is parsed. Its small requests do not wait for them, nor do files for imports."""
    app = Slow("/large")

    async def run() -> None:
        sockets = Sockets(app, owner_of=lambda environ: 7)
        body = [b"a" * 70_000, b""]
        large = [sockets.open("198.51.100.1", body, path="/large", announced=announced) for _ in range(6)]
        await until(lambda: len(app.worked) >= WORKED_ON_OF_ACCOUNT)
        others = [
            sockets.open("198.51.100.1", announced=0, path="/small"),
            sockets.open("198.51.100.1", body, path="/groups/1/import"),
        ]
        assert await ended(others) == {200}
        at_once = len(app.worked)
        app.release.set()
        await ended(large)
        assert (at_once, len(app.worked)) == (WORKED_ON_OF_ACCOUNT, 6)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("paths", "threads"),
    [(thread_pools.PASSWORDS, PASSWORD_THREADS), (thread_pools.OIDC, OIDC_THREADS)],
    ids=["guessing passwords", "a hanging identity provider"],
)
def test_slow_sign_ins_delay_nobody_else(paths: Collection[str], threads: int) -> None:
    """From a hundred addresses: a few are worked on at a time, and nobody else waits for them."""
    app = Slow(*paths)

    async def run() -> None:
        sockets = Sockets(app)
        slow = [
            sockets.open(f"198.51.100.{number % 100}", announced=0, path=path)
            for number, path in enumerate(sorted(paths) * 100)
        ]
        slow.append(sockets.open("198.51.100.200", announced=0, path=f"{min(paths)}/"))
        await until(lambda: len(app.worked) == threads)
        others = [
            sockets.open(address, announced=0, path=path)
            for address in ("198.51.100.1", "203.0.113.1")
            for path in ("/api/v1/auth/token", "/api/v1/me/token", "/api/v1/sign-in/methods", "/api/v1/sms/send")
        ]
        assert await ended(others) == {200}
        assert len(app.worked) == len({address for _, address in app.worked}) == threads
        app.release.set()
        assert await ended(slow) == {200}

    asyncio.run(run())


def test_slow_readers_hold_no_thread() -> None:
    async def run() -> None:
        app = Exports()
        sockets = Sockets(app)
        readers = [
            sockets.open(f"198.51.100.{number // 4}", path="/export", announced=0, takes=False) for number in range(140)
        ]
        await until(lambda: all(socket.status == 200 for socket in readers))
        assert await ended([sockets.open("203.0.113.1", announced=0)]) == {200}
        assert app.closed == 0
        assert await ended([sockets.open("198.51.100.1", path="/export", announced=0)]) == {429}
        assert app.closed == 1
        await left(readers)
        assert app.closed == 141

    asyncio.run(run())


def test_too_many_simultaneous_exports_are_refused() -> None:
    """A request that would also take the format of exports, but gets another, is not."""

    async def run() -> None:
        sockets = Sockets(Exports())
        readers = [sockets.open("198.51.100.1", path="/export", announced=0, takes=False) for _ in range(6)]
        await until(lambda: all(socket.status for socket in readers))
        either = sockets.open("198.51.100.1", announced=0, accept=b"application/json, text/csv;q=0.1")
        assert await ended([either]) == {200}
        await left(readers)
        assert sorted(socket.status for socket in readers) == [200] * 4 + [429] * 2

    asyncio.run(run())


def test_a_client_that_leaves_before_its_turn_costs_no_work() -> None:
    app = Slow("/working", "/waiting", "/last")

    async def run() -> None:
        sockets = Sockets(app)
        first = [sockets.open("198.51.100.1", announced=0, path="/working") for _ in range(2)]
        await until(lambda: len(app.worked) == 2)
        waiting = sockets.open("198.51.100.1", announced=0, path="/waiting")
        queues = sockets.served._pools._sign_in._waiting
        await until(lambda: len(queues.get("198.51.100.1", ())) == 1)
        waiting.gone.set()
        over, _ = await asyncio.wait([waiting.task], timeout=60)
        last = sockets.open("198.51.100.1", announced=0, path="/last")
        app.release.set()
        await ended([*first, last])
        assert over and [path for path, _ in app.worked] == ["/working"] * 2 + ["/last"] and waiting.sent == []

    asyncio.run(run())


def test_part_of_a_body_refused_early_is_read_before_the_connection_ends() -> None:
    """Otherwise it would be reset, and its client would never read why."""

    async def run() -> None:
        socket = Sockets(Calls()).open("198.51.100.1", [b"a" * 50_000] * 10, announced=500_000)
        await socket.task
        assert [message.get("more_body") for message in socket.sent] == [None, True, None]
        assert (b"connection", b"close") in socket.sent[0]["headers"] and socket.sent[1]["body"] == b"ok"
        assert socket.left == []

    asyncio.run(run())


LIMITS = [
    pytest.param(None, "/api/v1/auth/token", 64 * 1024, id="a stranger's"),
    pytest.param(None, "/carriers/generic/receipts", 1024 * 1024, id="a carrier's"),
    pytest.param(7, "/api/v1/sms/send-bulk", 8 * 1024 * 1024, id="an account's"),
    pytest.param(7, "/api/v1/groups/1/import", 100 * 1024 * 1024, id="a file"),
    pytest.param(7, "/api/v1/groups/1/import/", 100 * 1024 * 1024, id="a file, with a slash"),
]


@pytest.mark.parametrize(("owner", "path", "most"), LIMITS)
@pytest.mark.parametrize("over", [False, True])
def test_a_body_that_is_announced_as_too_large_is_not_read(owner: int | None, path: str, most: int, over: bool) -> None:
    assert bodies_read([b"a", b""], owner=owner, path=path, announced=most + over) == ["too large" if over else "a"]


def test_a_body_that_turns_out_to_be_too_large_is_not_taken_in_part() -> None:
    parts = [b"a" * 32 * 1024] * 2
    assert bodies_read([*parts, b""]) == ["a" * 64 * 1024]
    assert bodies_read([*parts, b"a", b""]) == ["too large"]


def bodies_read(parts: list[bytes], *, owner: int | None = None, **more: Any) -> list[str]:
    """What an application reads of a body that comes in these parts."""
    read: list[str] = []

    def app(environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        try:
            read.append(environ["wsgi.input"].read().decode())
        except Problem as refused:
            read.append({"payload_too_large": "too large"}[refused.code])
        return answer(start)

    async def run() -> None:
        sockets = Sockets(app, owner_of=lambda environ: owner or environ["REMOTE_ADDR"])
        await sockets.open("198.51.100.1", parts, **more).task

    asyncio.run(run())
    return read


@pytest.mark.parametrize(("owner", "most"), [(None, 64 * 1024), (7, 2 * 1024 * 1024)])
def test_only_a_little_of_a_large_body_is_kept_in_memory(
    monkeypatch: pytest.MonkeyPatch, owner: int | None, most: int
) -> None:
    kept: list[int] = []

    async def noted(receive: Receive, limit: int, in_memory: int) -> SpooledBody:
        kept.append(in_memory)
        return await spooled_body(receive, limit, in_memory)

    async def run() -> None:
        sockets = Sockets(Calls(), owner_of=lambda environ: owner or environ["REMOTE_ADDR"])
        await sockets.open("198.51.100.1", [b"a" * 70_000, b""], path="/carriers/generic/receipts").task

    monkeypatch.setattr(asgi, "spooled_body", noted)
    asyncio.run(run())
    assert kept == [most]


def test_a_body_for_which_there_is_no_room_may_be_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Calls()

    async def run() -> list[dict[str, Any]]:
        socket = Sockets(app).open("198.51.100.1", [b"a" * 70_000, b"b", b""], path="/carriers/generic/receipts")
        await socket.task
        return socket.sent

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Path("/dev/full").open("w+b"))  # noqa: SIM115
    head, body, _ = asyncio.run(run())
    assert (head["status"], json.loads(body["body"])["code"], app.on_the_loop) == (503, "unavailable", [])
    assert (b"retry-after", b"1") in head["headers"]


@pytest.mark.parametrize(("owner", "most"), [(None, 2), (7, 8)])
def test_few_large_bodies_of_an_owner_are_received_at_the_same_time(owner: int | None, most: int) -> None:
    app = Slow("/groups/1/import")

    async def run() -> None:
        sockets = Sockets(app, owner_of=lambda environ: owner or environ["REMOTE_ADDR"])
        large = [sockets.open("198.51.100.1", [b"a", b""], path="/groups/1/import") for _ in range(most + 2)]
        await until(lambda: sum(not socket.left for socket in large) >= most)
        for _ in range(100):
            await asyncio.sleep(0)
        received = sum(not socket.left for socket in large)
        app.release.set()
        assert (await ended(large), received) == ({200}, most)

    asyncio.run(run())


def test_small_sends_are_for_the_event_loop() -> None:
    for length, small in ((64 * 1024, True), (64 * 1024 + 1, False)):
        assert is_for_event_loop(scope(headers=[(b"content-length", b"%d" % length)])) is small


def test_an_owner_whose_clients_do_not_read_gets_no_more() -> None:
    """Its responses would fill the memory. What waits for a thread is checked when it is its turn."""
    size = MAX_UNREAD_BYTES // 2 + 1

    async def run() -> None:
        sockets = Sockets(lambda environ, start: answer(start, b"x" * size))
        waiting = [sockets.open("198.51.100.1", announced=0, path="/x", takes=False) for _ in range(2)]
        await until(lambda: all(socket.status for socket in waiting))
        third = sockets.open("198.51.100.1", announced=0, path="/x")
        await until(lambda: third.status != 0)
        assert (await left(waiting), await ended([third])) == ({200}, {429})
        assert await ended([sockets.open("198.51.100.1", announced=0, path="/x")]) == {200}

    asyncio.run(run())
