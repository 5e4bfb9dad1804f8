"""Serves the application's WSGI calls, each of which ends with its answer, from an event loop.

The calls are made in threads, but for the one that comes most: a message to one phone is handled on the event loop
(api/loop.py), and so no thread is woken for it, neither for its request nor when its send is committed.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from api.body import SMALL_BODY
from api.endpoint import PREFIX
from api.from_asgi import Answer, Environ, Headers, Wsgi, call, environ_of
from api.loop import Waits, on_the_loop
from api.problems import Problem
from api.slow_bodies import Body, Gone, Readers, Receive, Whole, is_small, whole_body
from shared.ids import random_bits

Scope = MutableMapping[str, Any]
Send = Callable[[Scope], Awaitable[None]]

THREADS = 32
MOST_OPEN = 512
"""Requests of one process that are under way. Who comes then is told to try again."""
ON_THE_LOOP = {f"{PREFIX}/sms/send"}


class Served:
    """A WSGI application as an ASGI server runs it."""

    def __init__(self, app: Wsgi) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(THREADS, "request")
        self._readers = Readers(THREADS // 2)
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Returns without an answer where the client has left."""
        small = is_small(scope["headers"], SMALL_BODY)
        try:
            body = await whole_body(receive) if small else None
        except Gone:
            return
        if self._open >= MOST_OPEN:
            await _send(send, problem_answer("unavailable", "Too many requests are under way.", scope["path"]))
            return
        self._open += 1
        try:
            given = Whole(body) if body is not None else Body(receive, self._readers, asyncio.get_running_loop())
            environ = environ_of(scope, given)
            if body is not None and scope["path"] in ON_THE_LOOP:
                await self._on_the_loop(environ, body, receive, send)
            else:
                await self._in_a_thread(environ, receive, send)
        finally:
            self._open -= 1

    async def _on_the_loop(self, environ: Environ, body: bytes, receive: Receive, send: Send) -> None:
        """Where the call is made again, its environment still has what was noted there: the request is counted once."""
        try:
            answer = await on_the_loop(lambda: call(self._app, environ))
            assert answer is not None
        except Waits:
            environ["wsgi.input"] = Whole(body)
            await self._in_a_thread(environ, receive, send)
        else:
            await _send(send, answer)

    async def _in_a_thread(self, environ: Environ, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        stream = Stream(loop, receive, send)
        answer = await loop.run_in_executor(self._threads, call, self._app, environ, stream.send)
        if answer is not None:
            await _send(send, answer)


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


async def _send(send: Send, answer: Answer) -> None:
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})
