"""Requests that are handled on the event loop instead of in a thread.

Nothing may block there. An endpoint whose send is to be committed returns a `PendingResponse`: it is made when the
commit is over, and meanwhile the loop handles others. What would block raises `NeedsThread`, and then the request is
handled again from the beginning, in a thread, where blocking is allowed.
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
    """On the event loop, something would block. No `Exception`, so that nothing but the loop catches it."""


class PendingResponse:
    """A response that is made when its send has been committed: `ready` is done then, and `response` makes it."""

    __slots__ = ("_outcome", "ready", "request")

    def __init__(self, outcome: Callable[[], Finish]) -> None:
        """`outcome` raises what the commit raised, NeedsThread where certainly nothing has happened; or it returns what
        makes the response."""
        self._outcome = outcome
        self.request: Request = current_request()
        assert self.request.loop is not None
        self.ready: asyncio.Future[None] = self.request.loop.create_future()

    def response(self) -> Response:
        """The response, once. Raises NeedsThread where the request is to be handled again in a thread.

        After its commit it is never handled again: what blocks there is an error of ours.
        """
        outcome, self._outcome = self._outcome, _spent  # the outcome refers to this: no cycle is to be left
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
    """Connections for whoever is in a thread. A request on the event loop gets none: it would wait for its answers."""

    def connect(self) -> PoolProxiedConnection:
        """A connection. Raises NeedsThread on the event loop."""
        require_thread()
        return super().connect()


def require_thread() -> None:
    """For what has an effect that must not happen twice, and may block then. Raises NeedsThread on the event loop."""
    if is_on_event_loop():
        raise NeedsThread


def in_background(function: Callable[[], object]) -> None:
    """Call a function in a thread, whatever becomes of it. Returns at once."""
    _background.submit(function)


def complete(responses: list[PendingResponse], then: Callable[[], object]) -> None:
    """Tell an event loop that its responses are ready, and call `then` when they are made. For any thread."""
    responses[0].ready.get_loop().call_soon_threadsafe(_complete, responses, then)


def _complete(responses: list[PendingResponse], then: Callable[[], object]) -> None:
    for response in responses:
        if not response.ready.done():
            response.ready.set_result(None)
    asyncio.get_running_loop().call_soon(then)  # after those who have waited


def _spent() -> Finish:
    raise RuntimeError("A response is made once.")
