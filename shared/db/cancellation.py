"""Cancels the statements of a request whose client has left.

Only reads are canceled: `reading` (connection.py) registers its connection here, transactions do not.
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
"""Timeout of sending a cancellation to Postgres."""


class Canceled(Exception):
    """The request was canceled; nobody waits for its result."""


class Cancellation:
    """Cancels the running statements of one request, if `allowed`."""

    __slots__ = ("_lock", "_requested", "_running", "allowed")

    def __init__(self) -> None:
        self.allowed = False
        self._requested = False
        self._lock = threading.Lock()
        self._running: list[psycopg.Connection[Any]] = []

    @contextmanager
    def active(self) -> Iterator[None]:
        """Context in which this is the `current_cancellation`, in this thread."""
        token = current_cancellation.set(self)
        try:
            yield
        finally:
            current_cancellation.reset(token)

    def cancel(self) -> None:
        """Cancel the running statements, and refuse further ones. Idempotent."""
        with self._lock:  # a connection must not be reused while it is being canceled
            self._requested = True
            for driver in self._running:
                with suppress(psycopg.Error):
                    driver.cancel_safe(timeout=CANCEL_SECONDS)

    def check(self) -> None:
        """Raise Canceled if the request was canceled, and may be."""
        if self._requested and self.allowed:
            raise Canceled

    @contextmanager
    def covering(self, connection: Connection) -> Iterator[Connection]:
        """Context in which the connection's statements may be canceled. Raises Canceled."""
        driver = connection.connection.driver_connection
        assert driver is not None
        with self._lock:
            if self._requested:
                raise Canceled
            self._running.append(driver)
        try:
            yield connection
        except (DBAPIError, psycopg.Error):
            if self._requested:
                raise Canceled from None
            raise
        finally:
            with self._lock:
                self._running.remove(driver)
            if self._requested:
                connection.invalidate()  # a late cancellation must not hit another request's statement


current_cancellation: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)
"""The cancellation of the current thread's request; it cancels nothing unless it is `allowed`."""


def allow_cancellation() -> None:
    """Allow the current thread's request, which changes nothing, to be canceled."""
    cancellation = current_cancellation.get()
    if cancellation is not None:
        cancellation.allowed = True
