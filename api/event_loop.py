"""Code that may run on the event loop, where nothing may block.

Code that would block raises `NeedsThread`, and the request is handled again from the start in a thread.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy.pool import PoolProxiedConnection

from shared.db.pools import CountedPool

_background = ThreadPoolExecutor(2, "background")


class NeedsThread(BaseException):
    """The request would block the event loop. A BaseException, so that only the loop catches it."""


class ThreadOnlyPool(CountedPool):
    """A connection pool for threads only: database calls would block the event loop."""

    def connect(self) -> PoolProxiedConnection:
        """Check out a connection. Raises NeedsThread on the event loop."""
        require_thread()
        return super().connect()


def is_on_event_loop() -> bool:
    """Whether the caller runs on an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def require_thread() -> None:
    """Raise NeedsThread on the event loop. Call it before an effect that must not be repeated and may block."""
    if is_on_event_loop():
        raise NeedsThread


def in_background(function: Callable[[], object]) -> None:
    """Call a function in a background thread and ignore its result. Returns at once."""
    _background.submit(function)


def complete(futures: list[asyncio.Future[None]], then: Callable[[], object]) -> None:
    """Complete futures of one event loop, then call `then` on the loop. Safe to call from any thread."""
    futures[0].get_loop().call_soon_threadsafe(_complete, futures, then)


def _complete(futures: list[asyncio.Future[None]], then: Callable[[], object]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
    asyncio.get_running_loop().call_soon(then)  # after the tasks that await the futures
