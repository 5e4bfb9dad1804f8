"""Requests that are handled on the event loop instead of in a thread.

Nothing may wait there. A view whose send is to be committed returns `Later`: the rest of its answer is made when the
commit is over, and meanwhile the loop handles others. What would have to wait for anything else raises `Waits`, and
then the request is made again from the beginning, in a thread, where waiting is allowed.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from sqlalchemy.pool import QueuePool
from sqlalchemy.pool.base import PoolProxiedConnection

from api.http.wsgi import Environ, Wsgi

log = logging.getLogger(__name__)

_background = ThreadPoolExecutor(2, "background")
_here = threading.local()
"""`loop`: the event loop on which the request that is asked about is handled, in its thread."""


class Waits(BaseException):
    """On the event loop, something would have to wait. No `Exception`, so that nothing but the loop catches it."""


class Later:
    """An answer that is not there yet, as a view on the event loop returns it, and so the WSGI call too.

    `done` is called with it on the loop when somebody has called `go_on`, and then its `result` is to be asked for.
    """

    def __init__(self, make: Callable[[], Callable[[], Wsgi]]) -> None:
        """What makes the answer, in two steps: the first raises Waits where certainly nothing has happened."""
        self._make = make
        self.loop: asyncio.AbstractEventLoop = _here.loop
        self.done: Callable[[Later], None] = _nobody
        self.of_error: Callable[[Environ, Exception], Wsgi]
        """How the application answers an error."""

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> "Later":
        """As WSGI calls an answer."""
        self._environ, self._start_response = environ, start_response
        return self

    def result(self) -> Iterable[bytes]:
        """What the WSGI call would have returned, once. Raises Waits where the request is to be made again in a thread.

        After its commit it is never made again: what waits there is an error of ours.
        """
        make, self._make = self._make, _made  # which holds who waited, and that this: no cycle is to be left
        with on_the_loop(self.loop):
            try:
                finish = make()
            except Exception as error:
                finish = partial(self.of_error, self._environ, error)
            try:
                return self._finished(finish)
            except Waits:
                raise RuntimeError("after its commit a request waited on the event loop") from None

    def _finished(self, finish: Callable[[], Wsgi]) -> Iterable[bytes]:
        try:
            response = finish()
        except Exception as error:
            response = self.of_error(self._environ, error)
        return response(self._environ, self._start_response)

    def __iter__(self) -> Iterator[bytes]:
        raise NotImplementedError("Its `result` is what can be sent.")


class WaitlessPool(QueuePool):
    """Connections for whoever is in a thread. A request on the event loop gets none: it would wait for its answers."""

    def connect(self) -> PoolProxiedConnection:
        """A connection. Raises Waits on the event loop."""
        need_a_thread()
        return super().connect()


def is_on_the_loop() -> bool:
    """Whether the request that asks is handled on the event loop."""
    return getattr(_here, "loop", None) is not None


class on_the_loop:  # noqa: N801 - used as the function that it would be, if a generator were as cheap
    """What is called within is called on the event loop, which is the running one."""

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        _here.loop = self._loop

    def __exit__(self, *_: object) -> None:
        _here.loop = None


def need_a_thread() -> None:
    """For what has an effect that must not happen twice, and may have to wait then. Raises Waits on the event loop."""
    if is_on_the_loop():
        raise Waits


def in_the_background(function: Callable[[], object]) -> None:
    """Call a function in a thread, whatever becomes of it. Returns at once."""
    _background.submit(function)


def go_on(answers: list[Later], then: Callable[[], object]) -> None:
    """Have answers of one event loop made, and do something when they are. For any thread; returns at once."""
    answers[0].loop.call_soon_threadsafe(_go_on, answers, then)


def _go_on(answers: list[Later], then: Callable[[], object]) -> None:
    for answer in answers:
        try:
            answer.done(answer)
        except Exception:
            log.exception("an answer could not be sent")
    then()


def _made() -> Callable[[], Wsgi]:
    raise RuntimeError("An answer is made once.")


def _nobody(_: Later) -> None:
    """Nobody waits for the answer."""
