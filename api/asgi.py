"""Serves the application's WSGI calls, each of which ends with its answer, from an event loop.

The calls are made in threads, but for the one that comes most: a message to one phone is handled on the event loop
(api/loop.py), and so no thread is woken for it, neither for its request nor when its send is committed.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any

from api.body import SMALL_BODY
from api.endpoint import PREFIX
from api.from_asgi import Answer, Environ, Headers, Start, Wsgi, call, environ_of, whole
from api.loop import Later, Waits, on_the_loop
from api.problems import Problem
from api.slow_bodies import Body, Gone, Readers, Receive, Whole, is_small, whole_body
from shared.ids import random_bits

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Send = Callable[[Scope], Awaitable[None]]

THREADS = 32
MOST_OPEN = 512
"""Requests of one process that are under way. Who comes then is told to try again."""
ON_THE_LOOP = f"{PREFIX}/sms/send".encode()
"""The path whose POST requests are handled on the event loop."""


class Served:
    """A WSGI application as an ASGI server runs it, and as `api.protocol` asks it past ASGI."""

    def __init__(self, app: Wsgi) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(THREADS, "request")
        self._readers = Readers(THREADS // 2)
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, in a thread. Returns without an answer where the client has left."""
        small = is_small(scope["headers"], SMALL_BODY)
        try:
            body = await whole_body(receive) if small else None
        except Gone:
            return
        if self._open >= MOST_OPEN:
            await _send(send, _too_many(scope["path"]))
            return
        self._open += 1
        try:
            loop = asyncio.get_running_loop()
            environ = environ_of(scope, Whole(body) if body is not None else Body(receive, self._readers, loop))
            stream = Stream(loop, receive, send)
            answer = await loop.run_in_executor(self._threads, call, self._app, environ, stream.send)
            if answer is not None:
                await _send(send, answer)
        finally:
            self._open -= 1

    def handle(
        self, scope: Scope, body: bytes, loop: asyncio.AbstractEventLoop, answer: Callable[[Answer], None]
    ) -> None:
        """Handle one request on `loop`, the running one. `answer` is called there with its answer, now or later.

        Where it would have to wait, it is made again in a thread. Its environment still has what was noted there: it is
        counted once.
        """
        if self._open >= MOST_OPEN:
            answer(_too_many(scope["path"]))
            return
        self._open += 1
        environ = environ_of(scope, Whole(body))
        OnTheLoop(self._app, environ, loop, self._threads, partial(self._end, answer)).begin()

    def _end(self, answer: Callable[[Answer], None], made: Answer) -> None:
        self._open -= 1
        answer(made)


class OnTheLoop:
    """One request that is handled on the event loop."""

    def __init__(
        self,
        app: Wsgi,
        environ: Environ,
        loop: asyncio.AbstractEventLoop,
        threads: Executor,
        answer: Callable[[Answer], None],
    ) -> None:
        self._app = app
        self._environ = environ
        self._loop = loop
        self._threads = threads
        self._answer = answer
        self._start = Start()

    def begin(self) -> None:
        """Call the application."""
        self._end_with(self._called)

    def _called(self) -> Answer | None:
        with on_the_loop(self._loop):
            result = self._app(self._environ, self._start)
        if isinstance(result, Later):
            result.done = self._go_on
            return None
        return whole(self._start, self._environ, result)

    def _go_on(self, later: Later) -> None:
        self._end_with(lambda: whole(self._start, self._environ, later.result()))

    def _end_with(self, make: Callable[[], Answer | None]) -> None:
        try:
            made = make()
        except Waits:
            self._make_again()
        except Exception:
            self._fail()
        else:
            if made is not None:
                self._answer(made)

    def _make_again(self) -> None:
        self._environ["wsgi.input"] = Whole(self._environ["wsgi.input"].data)
        again = self._loop.run_in_executor(self._threads, call, self._app, self._environ)
        again.add_done_callback(self._made_again)

    def _made_again(self, made: "asyncio.Future[Answer | None]") -> None:
        self._end_with(made.result)

    def _fail(self) -> None:
        """The application answers its errors itself, and this is not one of them."""
        log.exception("a request on the event loop failed")
        self._answer(problem_answer("internal_error", "Something went wrong on our side.", self._environ["PATH_INFO"]))


class Stream:
    """Sends an answer from a thread, piece by piece, until it is over or the client has left."""

    def __init__(self, loop: asyncio.AbstractEventLoop, receive: Receive, send: Send) -> None:
        self._loop = loop
        self._receive = receive
        self._send = send

    def send(self, status: int, headers: Headers, pieces: Iterable[bytes]) -> None:
        """Send an answer. Waits where the client is slow to take it."""
        gone = asyncio.run_coroutine_threadsafe(self._until_gone(), self._loop)
        try:
            self._wait_for({"type": "http.response.start", "status": status, "headers": headers})
            for piece in pieces:
                if gone.done():
                    return
                if piece:
                    self._wait_for({"type": "http.response.body", "body": piece, "more_body": True})
            self._wait_for({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()

    def _wait_for(self, message: dict[str, Any]) -> None:
        asyncio.run_coroutine_threadsafe(self._sent(message), self._loop).result()

    async def _sent(self, message: dict[str, Any]) -> None:
        await self._send(message)

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


def problem_answer(code: str, detail: str, path: str) -> Answer:
    """A problem that is answered before the application is asked, and after which the connection ends."""
    problem, identifier = Problem(code, detail), f"req_{random_bits():016x}"
    body = json.dumps(problem.document(path[:500], identifier)).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-request-id", identifier.encode()),
        (b"connection", b"close"),
    ]
    if problem.kind.retryable:
        headers.append((b"retry-after", b"1"))
    return Answer(problem.kind.status, headers, body)


def _too_many(path: str) -> Answer:
    return problem_answer("unavailable", "Too many requests are under way.", path)


async def _send(send: Send, answer: Answer) -> None:
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})
