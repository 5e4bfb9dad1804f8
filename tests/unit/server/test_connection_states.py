"""Connections in the states between requests: what each one may hold, for how long, and what its requests get."""

import asyncio
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from api.http import request
from api.server import limits, protocol
from api.server.connections import Connections, ServerState
from api.server.protocol import HttpConnection
from tests.unit.server.test_protocol import HEAD, Connection, after, answered, closed, length, some_turns

GET = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
SHORT = 0.1


class Observed(Connection):
    """Notes how it ended."""

    aborted = False
    on_resume: Callable[[], object] | None = None
    """What happens, once, when it is read again."""

    def resume_reading(self) -> None:
        """Read again."""
        if self.on_resume is not None:
            self.on_resume()
            self.on_resume = None

    def abort(self) -> None:
        """End it at once."""
        self.aborted = self.closed = True


class Clock:
    """The clock of the running loop, which only a test moves on."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        loop.time = lambda: self._now  # type: ignore[method-assign]

    async def go_on(self, seconds: float) -> None:
        """Let so many seconds pass, and whatever is due then happen."""
        self._now += seconds
        await some_turns()


def connected(application: Any = length) -> tuple[HttpConnection, Observed]:
    """A connection of the running loop, and the transport of it."""
    made, transport = HttpConnection(ServerState(application, Connections())), Observed()
    made.connection_made(transport)
    return made, transport


def test_empty_lines_do_not_keep_an_idle_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEEP_ALIVE_SECONDS", SHORT)
    assert after(GET, b"\r\n", until=closed).closed


def test_a_client_that_never_takes_the_last_bytes_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits for what is still to be sent, and a client that does not read would hold the connection forever."""
    monkeypatch.setattr(limits, "READER_SECONDS", SHORT)

    async def run() -> tuple[bool, bool]:
        clock = Clock()
        made, transport = connected()
        made.data_received(HEAD + b"Connection: close\r\n\r\n")
        await clock.go_on(SHORT / 2)
        before = transport.aborted
        await clock.go_on(SHORT)
        return before, transport.aborted

    assert asyncio.run(run()) == (False, True)


def test_a_request_learns_that_its_client_left_although_another_one_waits_behind_it() -> None:
    events: list[str] = []

    async def waits(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            pass
        events.append(message["type"])

    async def run() -> None:
        made, _ = connected(waits)
        made.data_received(GET + GET)
        await asyncio.sleep(0)
        made.connection_lost(None)
        await some_turns()

    asyncio.run(run())
    assert events == ["http.disconnect"]


def test_requests_that_wait_on_one_connection_are_bounded() -> None:
    seen = after(GET * 1000, until=closed)
    assert seen.written.count(b" 200 OK") == 1 + request.MAX_PIPELINED and seen.closed
    assert seen.written.count(b"connection: close") == 1, "the client knows that the others were not handled"
    all_answered = answered(1 + request.MAX_PIPELINED)
    assert after(GET * (1 + request.MAX_PIPELINED), until=all_answered).closed is False


@pytest.mark.parametrize("start", [HEAD, HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"], ids=["head", "trailers"])
def test_headers_are_not_kept_beyond_their_number(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read of 256 kB can hold 50,000 of them."""
    refuse, held = HttpConnection._refuse, []

    def measure_and_refuse(connection: HttpConnection, detail: str) -> None:
        of_connections = tracemalloc.Filter(True, protocol.__file__)  # and not of threads of other tests
        held.append(sum(each.size for each in tracemalloc.take_snapshot().filter_traces([of_connections]).traces))
        refuse(connection, detail)

    async def run() -> bytes:
        made, transport = connected()
        data = start + b"".join(b"x:%d\r\n" % number for number in range(30_000))
        tracemalloc.start()
        made.data_received(data)
        tracemalloc.stop()
        return transport.written

    monkeypatch.setattr(HttpConnection, "_refuse", measure_and_refuse)
    assert asyncio.run(run()).startswith(b"HTTP/1.1 400 ")
    assert len(held) == 1 and 0 < held[0] < 300_000


def test_the_deadline_of_a_request_does_not_count_while_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the third request is here; the server reads on when the first one is answered."""
    monkeypatch.setattr(limits, "REQUEST_SECONDS", SHORT)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(4 * SHORT)
        await length(scope, receive, send)

    async def run() -> bytes:
        clock = Clock()
        made, transport = connected(slow)
        transport.on_resume = lambda: asyncio.get_running_loop().call_soon(made.data_received, GET[10:])
        made.data_received(GET + GET + GET[:10])
        for _ in range(16):
            await clock.go_on(SHORT)
        return transport.written

    assert asyncio.run(run()).count(b" 200 OK") == 3


def test_the_deadline_of_a_body_is_not_that_of_the_next_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 4 * SHORT)

    async def run() -> bytes:
        clock = Clock()
        made, transport = connected()
        made.data_received(HEAD + b"Content-Length: 2\r\n\r\na")
        await clock.go_on(3 * SHORT)
        made.data_received(b"b" + GET[:10])
        await clock.go_on(2 * SHORT)
        made.data_received(GET[10:])
        await clock.go_on(SHORT)
        return transport.written

    assert asyncio.run(run()).count(b" 200 OK") == 2


def test_a_response_before_the_end_of_the_body_ends_the_connection() -> None:
    """Nobody reads what is left of the body, and no deadline would end it."""

    async def early(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    assert after(HEAD + b"Content-Length: 100000\r\n\r\nabc", application=early).closed


def test_http_1_0_gets_no_100_continue() -> None:
    """RFC 9110 §10.1.1: such a client does not know interim responses."""
    seen = after(b"POST /a HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", b"a")
    assert seen.written.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n",
        HEAD + b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        b"POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
        b"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n",
    ],
)
def test_a_body_whose_length_another_server_could_see_differently_is_refused(head: bytes) -> None:
    """RFC 9112 §6.1."""
    seen = after(head + b"\r\n0\r\n\r\n")
    assert seen.written.startswith(b"HTTP/1.1 400 ") and b"Transfer-Encoding" in seen.written and seen.closed


@pytest.mark.parametrize("framed", [b"Content-Length: 1\r\n\r\na", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
def test_a_request_for_another_protocol_is_not_handled_without_its_body(framed: bytes) -> None:
    seen = after(HEAD + b"Connection: Upgrade\r\nUpgrade: h2c\r\n" + framed)
    assert seen.written.startswith(b"HTTP/1.1 400 ") and b"Upgrade" in seen.written and seen.closed


def test_spaces_around_the_value_of_a_header_are_no_part_of_it() -> None:
    """RFC 9110 §5.5."""
    values: list[bytes] = []

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        values.extend(value for name, value in scope["headers"] if name != b"host")
        await length(scope, receive, send)

    after(HEAD + b"X-A: \t a b \t\r\nContent-Length: 0 \r\n\r\n", application=noting)
    assert values == [b"a b", b"0"]


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_that_has_no_body_is_sent_without_one(status: int) -> None:
    """The client would take it for the beginning of the next response."""

    async def wrong(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"HTTP/1.1 200 OK\r\n\r\n"})

    assert after(GET, application=wrong).written.count(b"HTTP/1.1") == 1


def test_a_bare_carriage_return_in_a_header_of_the_response_is_not_sent() -> None:
    async def wrong(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-a", b"b\rx-c: d")]})
        await send({"type": "http.response.body"})

    assert b"x-c" not in after(GET, application=wrong).written
