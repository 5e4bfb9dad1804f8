"""Requests that are handled on the event loop instead of in a thread.

Such a request is a greenlet: a call that can be paused in the middle and goes on later, while the loop handles others.
It pauses where its send is being committed, and may not wait for anything else. What would have to wait for the
database raises `Waits` instead, and then the request is made again from the beginning, in a thread, where waiting is
allowed.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from greenlet import getcurrent, greenlet
from sqlalchemy.pool import QueuePool
from sqlalchemy.pool.base import PoolProxiedConnection

T = TypeVar("T")

_background = ThreadPoolExecutor(2, "background")


class Waits(BaseException):
    """On the event loop, something would have to wait. No `Exception`, so that nothing but the loop catches it."""


class Call(greenlet):  # type: ignore[misc]
    """One request on the event loop."""

    def __init__(self, run: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(run)
        self.loop = loop
        self.paused = False
        """Whether it has had an effect, or may have had: then it must not be made again."""


class WaitlessPool(QueuePool):
    """Connections for whoever is in a thread. A request on the event loop gets none: it would wait for its answers."""

    def connect(self) -> PoolProxiedConnection:
        """A connection. Raises Waits on the event loop."""
        need_a_thread()
        return super().connect()


def this_call() -> Call | None:
    """The request on the event loop that asks; None in a thread."""
    current = getcurrent()
    return current if isinstance(current, Call) else None


def need_a_thread() -> None:
    """For what has an effect that must not happen twice, and may have to wait then. Raises Waits on the event loop."""
    if this_call() is not None:
        raise Waits


def in_the_background(function: Callable[[], object]) -> None:
    """Call a function in a thread, whatever becomes of it. Returns at once."""
    _background.submit(function)


def pause(call: Call) -> None:
    """Let the loop handle others, until somebody calls `go_on` with this call, which is the one that asks."""
    call.paused = True
    call.parent.switch()


def go_on(calls: list[Call], then: Callable[[], object] = lambda: None) -> None:
    """Let paused calls of one event loop go on, and do something when they have. For any thread; returns at once."""
    calls[0].loop.call_soon_threadsafe(_go_on, calls, then)


def make_again(call: Call) -> None:
    """Have the call made again in a thread, after a pause that certainly had no effect. Raises Waits."""
    call.paused = False
    raise Waits


async def on_the_loop(function: Callable[[], T]) -> T:
    """Call a function as a request on the running event loop.

    Raises what it raises; Waits, where it is to be called again in a thread. A call that has been paused is never made
    again: what it waits for after that is an error of ours.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = function()
        except BaseException as error:
            if not done.cancelled():
                done.set_exception(_lost(error) if call.paused else error)
        else:
            if not done.cancelled():
                done.set_result(result)

    call = Call(run, loop)
    call.switch()
    return done.result() if done.done() else await done


def _lost(error: BaseException) -> BaseException:
    return RuntimeError("after its commit a request waited on the event loop") if isinstance(error, Waits) else error


def _go_on(calls: list[Call], then: Callable[[], object]) -> None:
    for call in calls:
        call.switch()
    then()
