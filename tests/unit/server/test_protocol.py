"""Connections on which a request comes too slowly, or with too much before it."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from api.endpoint import DirectEndpoint
from api.event_loop import is_on_event_loop
from api.http.request import MAX_HEAD_BYTES, MAX_LINE_BYTES, Request, current_request
from api.http.responses import Response
from api.http.wsgi import WholeResponse
from api.limits.refusal_delays import Refusals
from api.server import limits
from api.server.application import Application
from api.server.connections import Connections, ServerState
from api.server.protocol import HttpConnection
from tests.harness.on_the_loop import on_loop

HEAD = b"POST /a HTTP/1.1\r\nHost: a\r\n"


class Connection(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = self.paused = False

    def write(self, data: Any) -> None:
        """Keep it."""
        self.written += bytes(data)

    def close(self) -> None:
        """End it."""
        self.closed = True

    def is_closing(self) -> bool:
        """Whether it was ended."""
        return self.closed

    def abort(self) -> None:
        """End it at once."""
        self.closed = True

    def can_write_eof(self) -> bool:
        """It ends for both sides, or for none."""
        return False

    def pause_reading(self) -> None:
        """Nothing more is read."""
        self.paused = True

    def resume_reading(self) -> None:
        """It is read again."""
        self.paused = False


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


async def some_turns() -> None:
    """Let happen what needs the loop, and no time."""
    for _ in range(20):
        await asyncio.sleep(0)


class Seen(NamedTuple):
    """What a client sees of its connection."""

    written: bytes
    closed: bool


def after(
    *chunks: bytes,
    seconds: float = 0.0,
    application: Any = length,
    until: Callable[[Seen], bool] = lambda seen: True,
) -> Seen:
    """A connection on which these pieces came, one after the other, and then nothing for some seconds.

    And longer, `until` what a thread or many turns of the loop bring about has come: however slow the machine is.
    """

    async def run() -> Seen:
        limits = application.connections if isinstance(application, Application) else Connections()
        made, connection = HttpConnection(ServerState(application, limits)), Connection()
        made.connection_made(connection)
        for chunk in chunks:
            made.data_received(chunk)
            await asyncio.sleep(0)
        await asyncio.sleep(seconds)
        async with asyncio.timeout(60):
            while not until(Seen(connection.written, connection.closed)):
                await asyncio.sleep(0.005)
        await some_turns()
        return Seen(connection.written, connection.closed)

    return asyncio.run(run())


def closed(seen: Seen) -> bool:
    """Whether the connection has ended."""
    return seen.closed


def answered(times: int) -> Callable[[Seen], bool]:
    """Whether so many requests were answered."""
    return lambda seen: seen.written.count(b" 200 OK") >= times


def test_requests_that_come_whole_are_answered_and_the_connection_stays() -> None:
    request = HEAD + b"Content-Length: 3\r\n\r\nabc"
    connection = after(request, request[:20], request[20:])
    assert connection.written.count(b"HTTP/1.1 200 OK") == 2 and connection.written.endswith(b"3")
    assert not connection.closed


@pytest.mark.parametrize(
    "chunks",
    [(), (b"POST",), (HEAD,), (HEAD + b"Content-Length: 3\r\n\r\n",), (HEAD + b"Content-Length: 3\r\n\r\na", b"b")],
    ids=["nothing", "a word", "half a head", "no body", "half a body"],
)
def test_a_request_that_does_not_arrive_in_time_is_refused(
    chunks: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.05)
    connection = after(*chunks, until=closed)
    assert connection.closed
    assert connection.written.startswith(b"HTTP/1.1 400 ") and b"did not arrive in time" in connection.written


def test_a_large_body_is_awaited_by_whoever_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.05)
    connection = after(HEAD + b"Content-Length: 70000\r\n\r\n", b"a", seconds=0.2)
    assert connection == (b"", False)


def test_a_head_without_an_end() -> None:
    connection = after(HEAD, *[b"X-A: " + b"a" * 1000 + b"\r\n"] * (MAX_HEAD_BYTES // 1000 + 1))
    assert connection.closed and b"larger than 32,768 bytes" in connection.written


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"


@pytest.mark.parametrize("trailer", [b"X-Forwarded-For: 10.0.0.1", b"Authorization: Bearer x", b"X-A: b"])
@pytest.mark.parametrize("together", [True, False])
def test_trailers_are_refused(trailer: bytes, together: bool) -> None:
    """By RFC 9110 §6.5.1 they are no headers; those that they were taken for, others believe."""
    end = b"0\r\n" + trailer + b"\r\n\r\n"
    sender = Sender()
    seen = after(*([CHUNKED + end] if together else [CHUNKED, end]), application=sender.served, until=closed)
    assert seen.written.startswith(b"HTTP/1.1 400 ") and b"Trailers" in seen.written and seen.closed


def test_a_trailer_without_an_end() -> None:
    connection = after(CHUNKED, b"0\r\nX-A: ", *[b"a" * 1000] * 40)
    assert connection.written.startswith(b"HTTP/1.1 400 ") and connection.closed


@pytest.mark.parametrize(("delay", "status"), [(0.01, b"HTTP/1.1 400 "), (60.0, b"")])
def test_a_client_refused_again_and_again_has_to_wait(
    delay: float, status: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Refusals, "delay", lambda *_: delay)
    connection = after(b"none\r\n\r\n", seconds=0.2)
    assert connection.written[:13] == status and connection.closed == bool(status)


def test_little_is_read_after_a_refusal() -> None:
    async def run() -> tuple[bool, bool]:
        made, connection = HttpConnection(ServerState(length, Connections())), Connection()
        connection.can_write_eof = lambda: True  # type: ignore[method-assign]
        connection.write_eof = lambda: None  # type: ignore[method-assign]
        made.connection_made(connection)
        made.data_received(b"none\r\n\r\n")
        before = connection.paused
        for _ in range(limits.MAX_DISCARDED_BYTES // 1000 + 1):
            made.data_received(b"a" * 1000)
        return before, connection.paused

    assert asyncio.run(run()) == (False, True)


def test_chunks_that_are_nothing_but_their_extension() -> None:
    connection = after(CHUNKED, b"1;", *[b"a" * 1000] * 40)
    assert connection.written.startswith(b"HTTP/1.1 400 ") and connection.closed


def test_a_body_of_many_small_chunks_is_read() -> None:
    chunk = b"40;a=b\r\n" + b"a" * 64 + b"\r\n"
    connection = after(CHUNKED, *[chunk * 100] * 50, b"0\r\n\r\n")
    assert connection.written.endswith(b"\r\n\r\n320001") and not connection.closed


@pytest.mark.parametrize("size", [1, 16])
def test_a_body_of_tiny_chunks_is_refused(size: int) -> None:
    """Each chunk takes time on the loop, whatever its size."""
    chunk = b"%x\r\n" % size + b"a" * size + b"\r\n"
    few = after(CHUNKED, chunk * 200, b"0\r\n\r\n")
    assert few.written.startswith(b"HTTP/1.1 200 ")
    many = after(CHUNKED, *[chunk * 100] * 10, b"0\r\n\r\n")
    assert many.written.startswith(b"HTTP/1.1 400 ") and b"at least 64 bytes" in many.written and many.closed


def test_a_large_response_is_sent_when_it_has_been_taken() -> None:
    """Until then the application, and with it its owner's share, waits."""
    sent = []

    async def large(scope: Any, receive: Any, send: Any) -> None:
        head = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]}
        await send(head)
        await send({"type": "http.response.body", "body": b"x" * 9})
        sent.append(scope["path"])

    async def run() -> None:
        made, connection = HttpConnection(ServerState(large, Connections())), Connection()
        made.connection_made(connection)
        write = connection.write

        def write_and_pause(data: bytes) -> None:
            write(data)
            made.pause_writing()

        connection.write = write_and_pause  # type: ignore[method-assign]
        made.data_received(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        await some_turns()
        assert connection.written.endswith(b"x" * 9) and sent == []
        made.resume_writing()
        await some_turns()
        assert sent == ["/a"]
        made.connection_lost(None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /a HTTP/1.1\r\n", 400),
        (b"GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400),
        (b"GET /a HTTP/1.0\r\nHost: a\r\nhost: a\r\n", 400),
        (b"GET /a HTTP/1.0\r\n", 200),
        (b"GET /a HTTP/1.1\r\nHost: a\r\n", 200),
    ],
)
def test_a_request_has_one_host(head: bytes, status: int) -> None:
    """RFC 9112 §3.2."""
    assert after(head + b"\r\n").written.startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-A: " + b"a" * MAX_LINE_BYTES + b"\r\n",
        HEAD.replace(b"/a", b"/" + b"a" * MAX_LINE_BYTES),
        HEAD + b"".join(b"X-%d: %s\r\n" % (number, b"a" * 4000) for number in range(9)),
        HEAD + b"".join(b"X-%d: a\r\n" % number for number in range(100)),
    ],
)
def test_a_head_that_arrives_at_once_and_is_too_large(head: bytes) -> None:
    connection = after(head + b"\r\n")
    assert connection.written.startswith(b"HTTP/1.1 400 ") and b"larger than" in connection.written
    assert connection.closed


def test_many_requests_that_come_at_once_are_answered() -> None:
    """They are together larger than the head of one may be, and of the last one some is missing."""
    request = HEAD + b"X-A: " + b"a" * 4000 + b"\r\nContent-Length: 3\r\n\r\nabc"
    seen = after(request * 20 + request[:100], request[100:], until=answered(21))
    assert seen.written.count(b" 200 OK") == 21 and not seen.closed


def test_garbage_after_a_request_is_refused_after_its_response() -> None:
    connection = after(HEAD + b"Content-Length: 3\r\n\r\nabc" + b"\0\0\0 nothing\r\n\r\n")
    assert connection.written.startswith(b"HTTP/1.1 200 OK") and connection.written.endswith(b"3")
    assert connection.closed and b"connection: close" in connection.written


def test_another_protocol_is_not_spoken() -> None:
    connection = after(HEAD + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n")
    assert connection.written.startswith(b"HTTP/1.1 200 OK") and connection.closed


BODY = b'{"phone": "254711000000"}'
SEND = b"POST /api/v1/sms/send HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % len(BODY)


class Sender:
    """An application that notes where it is called, and answers with the body that it was given."""

    def __init__(self) -> None:
        self.on_the_loop: list[bool] = []
        self.served = Application(self, on_loop(self.endpoint))

    def __call__(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        self.on_the_loop.append(is_on_event_loop())
        body = environ["wsgi.input"].read()
        start("200 OK", [("Content-Length", str(len(body))), ("X-Asked", environ["REQUEST_METHOD"])])
        return [body]

    def endpoint(self) -> Response:
        """The same without WSGI."""
        self.on_the_loop.append(is_on_event_loop())
        environ = current_request().environ
        return Response(environ["wsgi.input"].read(), 200, [("X-Asked", environ["REQUEST_METHOD"])])


def test_one_message_is_handled_on_the_loop_and_answered_in_one_piece() -> None:
    sender = Sender()
    seen = after(SEND, b"\r\n" + BODY[:3], BODY[3:], SEND + b"\r\n" + BODY, application=sender.served)
    head, _, rest = seen.written.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"HTTP/1.1 200 OK" and b"content-length: 25" in lines and b"x-asked: POST" in lines
    assert any(line.startswith(b"date: ") and line.endswith(b" GMT") for line in lines)
    assert rest.startswith(BODY + b"HTTP/1.1 200 OK\r\n") and rest.endswith(b"\r\n\r\n" + BODY)
    assert sender.on_the_loop == [True, True] and not seen.closed


@pytest.mark.parametrize(
    ("head", "on_the_loop"),
    [
        (SEND.replace(b"1.1\r\n", b"1.0\r\n"), True),
        (SEND.replace(b"/send", b"/send?a=b"), True),
        (SEND + b"Expect: 100-continue\r\n", True),
        (SEND.replace(b"POST", b"PUT"), False),
        (SEND.replace(b"/send", b"/send/"), False),
        (SEND.replace(b"Content-Length: 25", b"Transfer-Encoding: chunked"), False),
    ],
)
def test_an_unusual_request_is_handled(head: bytes, on_the_loop: bool) -> None:
    sender = Sender()
    body = b"19\r\n" + BODY + b"\r\n0\r\n\r\n" if b"chunked" in head else BODY
    seen = after(
        head + b"\r\n" + body, application=sender.served, until=lambda seen: seen.written.endswith(b"\r\n\r\n" + BODY)
    )
    assert sender.on_the_loop == [on_the_loop]
    assert b" 200 OK\r\n" in seen.written and seen.written.endswith(BODY)
    assert seen.closed == (b"HTTP/1.0" in head) and (b"100 Continue" in seen.written) == (b"Expect" in head)


def test_requests_on_one_connection_are_answered_in_their_order() -> None:
    """The second of two that came at once waits for the first, wherever each is handled."""
    sender = Sender()
    other = b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
    seen = after(other + SEND + b"\r\n" + BODY + other, application=sender.served, until=answered(3))
    assert [line[9:] for line in seen.written.split(b"\r\n") if line.startswith(b"x-asked")] == [
        b"GET",
        b"POST",
        b"GET",
    ]


def test_a_client_that_asks_for_it_gets_a_response_and_the_connection_ends() -> None:
    seen = after(SEND + b"Connection: close\r\n\r\n" + BODY, application=Sender().served)
    assert b"connection: close\r\n" in seen.written and seen.written.endswith(BODY) and seen.closed


def test_a_failure_outside_of_the_application_is_an_internal_error() -> None:
    class Broken(DirectEndpoint):
        def complete(self, request: Request, response: Response) -> WholeResponse:
            raise ValueError("a mistake")

    served = Application(Sender(), Broken(Sender().endpoint, None, 100))
    seen = after(SEND + b"\r\n" + BODY, application=served)
    assert seen.written.startswith(b"HTTP/1.1 500 ") and b'"internal_error"' in seen.written
    assert seen.written.count(b"connection: close") == 1 and seen.closed


def test_requests_that_come_at_once_are_handled_one_after_the_other() -> None:
    sender = Sender()
    seen = after((SEND + b"\r\n" + BODY) * 20, application=sender.served, until=answered(20))
    assert sender.on_the_loop == [True] * 20 and seen.written.count(b" 200 OK") == 20


def test_a_response_without_a_length_ends_with_its_last_chunk_or_its_connection() -> None:
    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for body in (b"ab", b"", b"c"):
            await send({"type": "http.response.body", "body": body, "more_body": body != b"c"})

    new = after(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", application=stream)
    assert new.written.endswith(b"\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n") and not new.closed
    old = after(b"GET / HTTP/1.0\r\n\r\n", application=stream)
    assert old.written.endswith(b"\r\n\r\nabc") and b"chunked" not in old.written and old.closed


def test_the_response_to_head_has_no_body() -> None:
    seen = after(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", application=length)
    assert b"content-length: 1\r\n" in seen.written and seen.written.endswith(b"\r\n\r\n") and not seen.closed


@pytest.mark.parametrize("headers", [[(b"content-length", b"5")], [(b"x-a", b"b\r\nx-c: d")]], ids=["length", "break"])
def test_an_invalid_response_is_not_sent(headers: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def wrong(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"abc"})

    seen = after(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", application=wrong)
    assert seen.closed and b"x-c: d" not in seen.written and "failed outside of the application" in caplog.text


def test_a_malformed_request_does_not_interrupt_the_response_before_it() -> None:
    """What is wrong with it would stand in the middle of the response before it."""
    sender, refused = Sender(), threading.Event()

    def slow(environ: dict[str, Any], start: Any) -> list[bytes]:
        assert refused.wait(60)
        return sender(environ, start)

    def until(seen: Seen) -> bool:
        refused.set()
        return seen.closed

    malformed = b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n" + CHUNKED + b"zz"
    seen = after(malformed, application=Application(slow), until=until)
    assert seen.written.count(b"HTTP/1.1 ") == 1 and b" 200 OK" in seen.written and seen.closed


def test_after_a_response_that_ends_the_connection_nothing_is_handled() -> None:
    """Nobody would get its response."""

    class Broken(Sender):
        def endpoint(self) -> Response:
            """Ask for the end of the connection."""
            response = super().endpoint()
            response.headers.append(("Connection", "close"))
            return response

    broken = Broken()
    seen = after((SEND + b"\r\n" + BODY) * 2, application=broken.served, until=closed)
    assert len(broken.on_the_loop) == 1 and seen.written.count(b"HTTP/1.1 ") == 1 and seen.closed


def test_a_request_that_takes_longer_than_connections_are_kept_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEEP_ALIVE_SECONDS", 0.2)
    sender, released = Sender(), threading.Event()
    closed_meanwhile: list[bool] = []

    def slow(environ: dict[str, Any], start: Any) -> list[bytes]:
        if environ["REQUEST_METHOD"] == "GET":
            assert released.wait(60)
        return sender(environ, start)

    def until(seen: Seen) -> bool:
        if not released.is_set():
            closed_meanwhile.append(seen.closed)
            released.set()
        return answered(2)(seen)

    other = b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
    served = Application(slow, on_loop(sender.endpoint))
    seen = after(SEND + b"\r\n" + BODY + other, seconds=0.4, application=served, until=until)
    assert seen.written.count(b" 200 OK") == 2 and closed_meanwhile == [False]


def test_a_small_body_that_does_not_come_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.05)
    sender = Sender()
    seen = after(SEND + b"\r\n" + BODY[:5], application=sender.served, until=closed)
    assert b"did not arrive in time" in seen.written and seen.closed and not sender.on_the_loop
