"""Requests handled on the event loop instead of in a thread.

Nothing may block the loop. An endpoint that waits for a commit returns a `PendingResponse`, which is completed after
the commit while the loop handles other requests. Code that would block raises `NeedsThread`, and the request is handled
again from the start in a thread.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from api.http.errors import error_response
from api.http.request import Request, current_request, handling, is_on_event_loop
from api.http.responses import Response

_background = ThreadPoolExecutor(2, "background")

Finish = Callable[[], Response]


class NeedsThread(BaseException):
    """The request would block the event loop. A BaseException, so that only the loop catches it."""


class PendingResponse:
    """A response to a send that is being committed. `ready` completes after the commit; then call `response`."""

    __slots__ = ("_outcome", "ready", "request")

    def __init__(self, outcome: Callable[[], Finish]) -> None:
        """`outcome` raises the commit's error, or NeedsThread if certainly nothing was committed; otherwise it returns
        the function that builds the response."""
        self._outcome = outcome
        self.request: Request = current_request()
        assert self.request.loop is not None
        self.ready: asyncio.Future[None] = self.request.loop.create_future()

    def response(self) -> Response:
        """Build the response, once only. Raises NeedsThread if the request must be handled again in a thread.

        A committed request is never handled again: blocking after the commit is a bug and becomes a 500.
        """
        outcome, self._outcome = self._outcome, _spent  # the outcome refers to self: break the reference cycle
        with handling(self.request):
            try:
                finish = outcome()
            except Exception as error:
                return error_response(error, self.request)
            try:
                return finish()
            except NeedsThread:
                blocked = RuntimeError("after its commit a request blocked on the event loop")
                return error_response(blocked, self.request)
            except Exception as error:
                return error_response(error, self.request)


class ThreadOnlyPool(QueuePool):
    """A connection pool for threads only: database calls would block the event loop."""

    def connect(self) -> PoolProxiedConnection:
        """Check out a connection. Raises NeedsThread on the event loop."""
        require_thread()
        return super().connect()


def require_thread() -> None:
    """Raise NeedsThread on the event loop. Call it before an effect that must not be repeated and may block."""
    if is_on_event_loop():
        raise NeedsThread


def in_background(function: Callable[[], object]) -> None:
    """Call a function in a background thread and ignore its result. Returns at once."""
    _background.submit(function)


def complete(responses: list[PendingResponse], then: Callable[[], object]) -> None:
    """Mark responses of one event loop as ready, then call `then` on the loop. Safe to call from any thread."""
    responses[0].ready.get_loop().call_soon_threadsafe(_complete, responses, then)


def _complete(responses: list[PendingResponse], then: Callable[[], object]) -> None:
    for response in responses:
        if not response.ready.done():
            response.ready.set_result(None)
    asyncio.get_running_loop().call_soon(then)  # after the tasks that await the responses


def _spent() -> Finish:
    raise RuntimeError("The response was already built.")
