"""Connections as uvicorn parses them: what is refused before the API sees it, and what is not."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from uvicorn.server import ServerState

from api.event_loop import is_on_event_loop
from api.handlers import DirectEndpoint
from api.http import receive
from api.http.request import COMPLETE, MAX_LINE_BYTES, SCOPE, Request, current_request
from api.http.responses import Response
from api.http.wsgi import WholeResponse
from api.server.application import Application
from api.server.exchange import Observed
from api.server.process import configuration
from api.server.protocol import HttpProtocol, Together
from tests.harness.on_the_loop import SERVICES, on_loop

HEAD = b"POST /a HTTP/1.1\r\nHost: a\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"
ONE = HEAD + b"Content-Length: 1\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BEHIND = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"


class Connection(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 4711)})
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        """Keep it, unless the connection has ended."""
        self.written += b"" if self.closed else bytes(data)

    def close(self) -> None:
        """End it."""
        self.closed = True

    def is_closing(self) -> bool:
        """Whether it was ended."""
        return self.closed

    def pause_reading(self) -> None:
        """Nothing more is read."""

    def resume_reading(self) -> None:
        """It is read again."""


class Api:
    """An API that notes where it is called, and answers with the path and the body that it was given."""

    def __init__(self) -> None:
        self.on_the_loop: list[bool] = []
        self.environ: dict[str, Any] = {}
        self.served = Observed(Application(self, on_loop(self.endpoint)))

    def __call__(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        self.on_the_loop.append(is_on_event_loop())
        self.environ = environ
        body = environ["PATH_INFO"].encode() + b" " + environ["wsgi.input"].read()
        start("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    def endpoint(self) -> Response:
        """The same on the event loop."""
        found = current_request().environ
        return Response(self(found, lambda *_: None)[0])


class Seen(NamedTuple):
    """What a client sees of its connection."""

    written: bytes
    closed: bool


def answered(seen: Seen, times: int = 1) -> bool:
    """Whether so many requests were answered, however."""
    return seen.written.count(b"HTTP/1.1 ") - seen.written.count(CONTINUE) >= times


def after(
    *chunks: bytes,
    served: Any = None,
    until: Callable[[Seen], bool] = answered,
    connection: Connection | None = None,
) -> Seen:
    """What the client has seen `until` then on a connection on which these pieces came, one after the other."""

    async def run() -> Seen:
        config = configuration(lambda: served or Api().served)
        config.load()
        made, client = HttpProtocol(config, ServerState(), {}), connection or Connection()
        made.connection_made(client)
        for chunk in chunks:
            if not client.closed:
                made.data_received(chunk)
                await asyncio.sleep(0)
        async with asyncio.timeout(60):
            while not until(Seen(client.written, client.closed)):
                await asyncio.sleep(0.005)
        for _ in range(20):
            await asyncio.sleep(0)
        seen = Seen(client.written, client.closed)
        made.connection_lost(None)
        return seen

    return asyncio.run(run())


def bytewise(data: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in data]


def test_it_works() -> None:
    request = HEAD + b"Content-Length: 3\r\n\r\nabc"
    api = Api()
    seen = after(request, request[:20], request[20:], served=api.served, until=lambda seen: answered(seen, 2))
    assert COMPLETE in api.environ[SCOPE]
    assert seen.written.count(b"HTTP/1.1 200 OK") == 2 and seen.written.endswith(b"/a abc") and not seen.closed


@pytest.mark.parametrize("trailer", [b"X-Forwarded-For: 10.0.0.1", b"Authorization: Bearer x", b"X-A: b"])
@pytest.mark.parametrize("together", [True, False])
def test_trailers_are_refused(trailer: bytes, together: bool) -> None:
    """By RFC 9110 §6.5.1 they are no headers; those that they were taken for, others believe."""
    data, api = CHUNKED + b"\r\n1\r\na\r\n0\r\n" + trailer + b"\r\n\r\n", Api()
    seen = after(*([data] if together else bytewise(data)), served=api.served)
    assert seen.written.startswith(b"HTTP/1.1 400 ") and b"trailers" in seen.written and seen.closed
    assert b"application/problem+json" in seen.written and api.on_the_loop == []


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
    "another coding": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and then identity": CHUNKED + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "identity and then chunked": HEAD + b"Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
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
    "a later version": b"GET /a HTTP/2.0\r\nHost: a\r\n\r\n",
    "no version": b"GET /a\r\n\r\n",
    "CONNECT": b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no Host": b"GET /a HTTP/1.1\r\n\r\n",
    "two Hosts": HEAD + b"Host: b\r\n\r\n",
    "two Hosts in HTTP/1.0": b"GET /a HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n",
    "a body for another protocol": ONE + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\na",
    "chunks for another protocol": CHUNKED + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n0\r\n\r\n",
}
"""Requests that two servers could read differently (RFC 9112, for the most part §3.2 and §6)."""


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in REFUSED.items()])
@pytest.mark.parametrize("together", [True, False])
def test_an_ambiguous_request_is_refused_and_nothing_behind_it_is_handled(data: bytes, together: bool) -> None:
    chunks = [data + BEHIND] if together else bytewise(data + BEHIND)
    seen = after(*chunks)
    assert seen.written.startswith(b"HTTP/1.1 400 ") and seen.written.count(b"HTTP/1.1 ") == 1
    assert seen.closed and b"/smuggled" not in seen.written and b"application/problem+json" in seen.written


@pytest.mark.parametrize(
    "data",
    [b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", HEAD + b"Connection: close\r\n\r\n"],
    ids=["HTTP/1.0", "close"],
)
@pytest.mark.parametrize("together", [True, False])
def test_nothing_is_handled_behind_the_last_request(data: bytes, together: bool) -> None:
    seen = after(*([data + BEHIND] if together else bytewise(data + BEHIND)), until=lambda seen: seen.closed)
    assert seen.written.count(b"HTTP/1.1 ") == 1 and seen.written.endswith(b"/a ")


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-A: " + b"a" * MAX_LINE_BYTES + b"\r\n",
        HEAD.replace(b"/a", b"/" + b"a" * MAX_LINE_BYTES),
        HEAD.replace(b"/a", b"/?" + b"a" * MAX_LINE_BYTES),
        HEAD + b"".join(b"X-%d: %s\r\n" % (number, b"a" * 4000) for number in range(9)),
        HEAD + b"".join(b"X-%d: a\r\n" % number for number in range(100)),
    ],
    ids=["header", "path", "query", "head", "number"],
)
def test_a_head_that_is_too_large(head: bytes) -> None:
    seen = after(head + b"\r\n")
    assert seen.written.startswith(b"HTTP/1.1 400 ") and b"larger than" in seen.written and seen.closed


@pytest.mark.parametrize("begun", [HEAD + b"Content-Length: 9\r\n\r\nabc", CHUNKED + b"\r\n1\r\na\r\n"])
def test_a_body_that_does_not_arrive_in_time(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "GRACE", 0.05)
    monkeypatch.setattr(receive, "DRAIN_SECONDS", 0.05)
    seen = after(begun, until=lambda seen: seen.closed)
    assert seen.written.startswith(b"HTTP/1.1 400 ") and b"did not arrive in time" in seen.written


BODY = b'{"phone": "254711000000"}'
SEND = b"POST /api/v1/sms/send HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % len(BODY)


@pytest.mark.parametrize(
    ("head", "on_the_loop"),
    [
        (SEND, True),
        (SEND.replace(b"1.1\r\n", b"1.0\r\n"), True),
        (SEND.replace(b"/send", b"/send?a=b"), True),
        (SEND + b"Expect: 100-continue\r\n", True),
        (SEND.replace(b"POST", b"PUT"), False),
        (SEND.replace(b"/send", b"/send/"), False),
        (SEND.replace(b"Content-Length: 25", b"Transfer-Encoding: chunked"), False),
    ],
)
def test_only_one_small_send_is_handled_on_the_loop(head: bytes, on_the_loop: bool) -> None:
    api = Api()
    body = b"19\r\n" + BODY + b"\r\n0\r\n\r\n" if b"chunked" in head else BODY
    seen = after(head + b"\r\n", body, served=api.served, until=lambda seen: seen.written.endswith(BODY))
    assert api.on_the_loop == [on_the_loop] and b" 200 OK\r\n" in seen.written
    assert seen.closed == (b"HTTP/1.0" in head) and (b"100 Continue" in seen.written) == (b"Expect" in head)


def test_a_failure_outside_of_the_application_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(DirectEndpoint):
        def complete(self, request: Request, response: Response) -> WholeResponse:
            raise ValueError("a mistake")

    served = Observed(Application(Api(), Broken(Api().endpoint, SERVICES)))
    seen = after(SEND + b"\r\n" + BODY, served=served)
    assert seen.written.startswith(b"HTTP/1.1 500 ") and b'"internal_error"' in seen.written
    assert seen.written.count(b"connection: close") == 1 and seen.closed
    assert "failed outside of the application" in caplog.text


def test_a_head_and_what_follows_are_written_at_once() -> None:
    """Each would be a system call, and a packet to the client."""
    written: list[bytes] = []

    class Noting(Connection):
        def write(self, data: Any) -> None:
            """Note it."""
            written.append(bytes(data))
            super().write(data)

    seen = after(HEAD + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\n", b"a", connection=Noting())
    assert written == [CONTINUE, seen.written.removeprefix(CONTINUE)]


def test_a_head_is_not_written_when_its_client_has_left() -> None:
    """uvloop would raise an error."""
    client = Connection()
    together = Together(client)
    together.write(b"HTTP/1.1 200 OK\r\n\r\n")
    client.write = None  # type: ignore[assignment, method-assign]
    client.closed = True
    together.close()


def test_a_large_response_holds_its_owners_share_until_its_client_has_taken_it() -> None:
    """Or clients that do not read could fill the memory."""
    size = 100_000

    def large(environ: dict[str, Any], start: Any) -> list[bytes]:
        start("200 OK", [("Content-Length", str(size))])
        return [b"x" * size]

    async def run() -> list[int]:
        application = Application(large)
        config = configuration(lambda: Observed(application))
        config.load()
        made, connection = HttpProtocol(config, ServerState(), {}), Connection()
        write = connection.write

        def write_and_pause(data: bytes) -> None:
            write(data)
            if len(connection.written) > size:
                made.pause_writing()

        connection.write = write_and_pause  # type: ignore[method-assign]
        made.connection_made(connection)
        made.data_received(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        held = []
        async with asyncio.timeout(60):
            while len(connection.written) <= size:
                await asyncio.sleep(0.005)
            for _ in range(20):
                await asyncio.sleep(0)
            held.append(application._open.held.get("192.0.2.1"))
            made.resume_writing()
            while application._open.held:
                await asyncio.sleep(0.005)
        made.connection_lost(None)
        return [*held, connection.written.count(b"x" * size)]

    assert asyncio.run(run()) == [1, 1]
