"""HTTP/1.1 as the API takes it: uvicorn's protocol, with bounds, and a shorter way for the request that comes most."""

import asyncio

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.http.json_body import SMALL_BODY
from api.http.request_body import DRAIN_SECONDS, DRAINED, is_small
from api.http.request_head import MOST_HEAD, MOST_HEADERS, MOST_LINE
from api.http.wsgi import Answer, Headers
from api.server.application import ON_THE_LOOP, Served
from api.server.responses import problem_answer

MOST_AROUND = 16 * 1024
"""Bytes in which none of a body's is, while it is to come: the sizes of its chunks, and what they are extended with."""
PATIENCE = 20.0
"""Seconds for a request's head, and then for its body if it is a small one. Who reads a large one waits for it."""
TOO_LARGE = (
    f"The head of the request is larger than {MOST_HEAD:,} bytes, has more than {MOST_HEADERS} headers, or one of more"
    f" than {MOST_LINE:,} bytes."
)
TRAILERS = "Trailers (headers after the body) are not accepted."
READER_PATIENCE = 60.0
"""Seconds in which a client takes what was sent to it, when more than 64 kB of it wait: a page of an export, say."""
VERSIONS = ("1.0", "1.1")
CLOSE = (b"connection", b"close")


class Protocol(HttpToolsProtocol):
    """One connection: how long a request's head is, how many headers it has and how long it takes to come is bounded.

    What is no request is answered in the shape of the API's other errors, after the requests before it.
    """

    _in_head = True
    _without_use = 0
    """Bytes that have come since the last one of a body, or since the head began that is coming."""
    _header_count = 0
    """Headers of the head that is here: what the parser calls headers after it are trailers."""
    _is_new = False
    """Whether, in what has just come, something began or went on for which these bytes are counted anew."""
    _wrong = ""
    """What is wrong with the request, where the parser does not know it."""
    _timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None
    """Runs while the client does not take what is sent to it."""
    _discarded = 0
    """Bytes that came after it had failed."""
    _failed = False
    """Nothing that comes is read any more."""
    _began = False
    """Whether a request of what has just come is handled on the loop: the others wait, as those of other clients do."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        if isinstance(self.app, Served) and not self.app.connections.add(self, self._peer()):
            self._failed = True
            self._write(problem_answer("rate_limited", "Too many connections are open from your address.", ""))
            transport.close()
            return
        self._begin_to_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone, or we have ended it."""
        self._stop_waiting()
        self._stop_waiting_for_reader()
        if isinstance(self.app, Served):
            self.app.connections.remove(self, self._peer())
        super().connection_lost(exc)

    def _peer(self) -> str:
        return self.client[0] if self.client else ""

    def end_if_idle(self) -> bool:
        """End the connection where no request is under way. Returns whether it was."""
        if self.transport.is_closing() or (self.cycle is not None and not self.cycle.response_complete):
            return False
        self.transport.abort()
        return True

    def pause_writing(self) -> None:
        """The client does not take what is sent to it as quickly as that is made. It has some time for it."""
        super().pause_writing()
        if self._reader_timer is None:
            self._reader_timer = self.loop.call_later(READER_PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """It has taken nearly all of it."""
        super().resume_writing()
        self._stop_waiting_for_reader()

    def _stop_waiting_for_reader(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def on_message_begin(self) -> None:
        """A request has begun."""
        super().on_message_begin()
        self._in_head = self._is_new = True

    def on_body(self, body: bytes) -> None:
        """Some of its body has come."""
        self._is_new = True
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Its head is here. Raises ValueError, which `data_received` gets as an error of the parser."""
        self._wrong = self._wrong_with_head()
        if self._wrong or self.parser.get_http_version() not in VERSIONS:
            raise ValueError("refused")
        if self.transport.is_closing():
            raise ValueError("the answer before it was the last one")
        self._in_head, self._header_count = False, len(self.headers)
        self._stop_waiting()
        self._unset_keepalive_if_required()
        if self.url == ON_THE_LOOP and self._may_be_on_the_loop():
            self.scope["method"], self.scope["query_string"] = "POST", b""
            self.scope["path"], self.scope["raw_path"] = ON_THE_LOOP.decode(), ON_THE_LOOP
            self.cycle = Exchange(self)  # type: ignore[assignment]
        else:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """All of it is here. Raises ValueError for trailers, which would be taken for headers."""
        if len(self.headers) > self._header_count:
            self._wrong = TRAILERS
            raise ValueError(TRAILERS)
        super().on_message_complete()
        if isinstance(self.cycle, Exchange):
            self._began = True
            self.cycle.begin()

    def _wrong_with_head(self) -> str:
        """What is wrong with a head that is here; empty where nothing is."""
        size = longest = len(self.url)
        hosts = 0
        for name, value in self.headers:
            length = len(name) + len(value)
            size += length
            if length > longest:
                longest = length
            if name == b"host":
                hosts += 1
        if hosts != 1 and (hosts or self.parser.get_http_version() == "1.1"):
            return f"The request has {hosts or 'no'} Host header{'s' if hosts else ''}, and has to have one."
        if size > MOST_HEAD or longest > MOST_LINE or len(self.headers) > MOST_HEADERS:
            return TOO_LARGE
        return ""

    def data_received(self, data: bytes) -> None:
        """Something came."""
        if self._failed:
            self._discarded += len(data)
            if self._discarded > DRAINED:
                self.transport.abort()
            return
        self._unset_keepalive_if_required()
        self._began = self._is_new = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._end_after_answer()  # to nothing that we know of, and what follows is not HTTP
        except httptools.HttpParserError:
            self._refuse(self._wrong or "This is not a valid HTTP request (RFC 9112).")
        else:
            self._without_use = 0 if self._is_new else self._without_use + len(data)
            if self._in_head:
                self._look_at_head()
            elif len(self.headers) > self._header_count:
                self._refuse(TRAILERS)
            elif not self.cycle.more_body:
                self._stop_waiting()
            elif self._without_use > MOST_AROUND:
                self._refuse("The chunks of the body have too much overhead.")
            elif self._timer is None and is_small(self.headers, SMALL_BODY):
                self._begin_to_wait()

    def _look_at_head(self) -> None:
        if self._without_use > MOST_HEAD:
            self._refuse(TOO_LARGE)
        elif self._timer is None:
            self._begin_to_wait()

    def _may_be_on_the_loop(self) -> bool:
        """Whether nothing about the request is unusual, and its client takes the answers."""
        return (
            isinstance(self.app, Served)
            and self.app.on_loop is not None
            and not self._began
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and not self.parser.should_upgrade()
            and not self.expect_100_continue
            and not self.flow.write_paused
            and (self.cycle is None or self.cycle.response_complete)
            and is_small(self.headers, SMALL_BODY)
        )

    def _begin_to_wait(self) -> None:
        self._timer = self.loop.call_later(PATIENCE, self._refuse, "The request did not arrive in time.")

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, detail: str) -> None:
        self._failed = True
        self._stop_waiting()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            self._end_after_answer()
            return
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        if not self.transport.is_closing() and not (cycle is not None and cycle.response_started):
            self._refuse_with(problem_answer("bad_request", detail, ""))
            return
        self.transport.close()

    def _refuse_with(self, answer: Answer) -> None:
        """Answer, and end the connection when the client has the answer: with more to come it would be reset."""
        self._failed = True
        self._write(answer)
        if not self.transport.can_write_eof():
            self.transport.close()
            return
        self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(DRAIN_SECONDS, self.transport.abort)

    def _write(self, answer: Answer) -> None:
        self.transport.write(_bytes_of(answer.status, answer.headers, answer.body))

    def _end_after_answer(self) -> None:
        self._failed = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        else:
            self.transport.close()


class Exchange:
    """A request that is handled on the event loop, and its answer: what uvicorn calls a cycle, but without ASGI.

    One write sends the answer; by ASGI its head and its body would be one each.
    """

    message_event = asyncio.Event()
    """Nobody waits for it."""
    response_started = False

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._scope = protocol.scope
        self.body = bytearray()
        self.more_body = True
        self.keep_alive: bool = protocol.parser.should_keep_alive()
        self.response_complete = False
        self.disconnected = False

    def begin(self) -> None:
        """Its body is here."""
        self._protocol.app.handle(self._scope, bytes(self.body), self._protocol.loop, self._end)

    def _end(self, answer: Answer) -> None:
        self.response_complete = True
        protocol = self._protocol
        if self.disconnected or protocol.transport.is_closing():
            return
        headers = protocol.server_state.default_headers + answer.headers
        if not self.keep_alive and CLOSE not in headers:
            headers.append(CLOSE)
        protocol.transport.write(_bytes_of(answer.status, headers, answer.body))
        if CLOSE in headers:
            protocol.transport.close()
        protocol.on_response_complete()


def _bytes_of(status: int, headers: Headers, body: bytes) -> bytes:
    """An answer as it is sent."""
    head = [name + b": " + value + b"\r\n" for name, value in headers]
    return b"".join([STATUS_LINE[status], *head, b"\r\n", body])
