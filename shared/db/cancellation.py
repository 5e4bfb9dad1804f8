"""Cancels the statements of a request whose client has left.

Only what reads is cancelled: `reading` (connection.py) registers its connection here, and a transaction never does.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

CANCEL_SECONDS = 2.0
"""How long Postgres may take to receive a cancellation."""


class Cancelled(Exception):
    """The work was cancelled, and nobody waits for its result."""


class Cancellation:
    """The statements that one request is running. None is cancelled unless `allowed`."""

    __slots__ = ("_lock", "_requested", "_running", "allowed")

    def __init__(self) -> None:
        self.allowed = False
        self._requested = False
        self._lock = threading.Lock()
        self._running: list[psycopg.Connection[Any]] = []

    @contextmanager
    def active(self) -> Iterator[None]:
        """Within it, in this thread, `current_cancellation` is this one."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def cancel(self) -> None:
        """Cancel the statements that are running, and refuse those that would follow. May be called again."""
        with self._lock:  # no connection leaves `covering`, to be used by others, while it is being cancelled
            self._requested = True
            for driver in self._running:
                with suppress(psycopg.Error):
                    driver.cancel_safe(timeout=CANCEL_SECONDS)

    @contextmanager
    def covering(self, connection: Connection) -> Iterator[Connection]:
        """A connection whose statements may be cancelled within the block. Raises Cancelled."""
        driver = connection.connection.driver_connection
        assert driver is not None
        with self._lock:
            if self._requested:
                raise Cancelled
            self._running.append(driver)
        try:
            yield connection
        except (DBAPIError, psycopg.Error):
            if self._requested:
                raise Cancelled from None
            raise
        finally:
            with self._lock:
                self._running.remove(driver)
            if self._requested:
                connection.invalidate()  # a cancellation that arrives late must not meet somebody else's statement


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def allow_cancellation() -> None:
    """Let the request that this thread works on be cancelled: it changes nothing."""
    cancellation = _current.get()
    if cancellation is not None:
        cancellation.allowed = True


def current_cancellation() -> Cancellation | None:
    """What cancels the statements of this thread's request; None where nothing may."""
    cancellation = _current.get()
    return cancellation if cancellation is not None and cancellation.allowed else None
