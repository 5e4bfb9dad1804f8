"""Requests that are handled on the event loop instead of in a thread.

Nothing may block there. An endpoint whose send is to be committed returns a `PendingResponse`: it is made when the
commit is over, and meanwhile the loop handles others. What would block raises `NeedsThread`, and then the request is
handled again from the beginning, in a thread, where blocking is allowed.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from api.http.errors import error_response
from api.http.request import Request, current_request, handling, is_on_event_loop
from api.http.responses import Response

log = logging.getLogger(__name__)

_background = ThreadPoolExecutor(2, "background")

Finish = Callable[[], Response]


class NeedsThread(BaseException):
    """On the event loop, something would block. No `Exception`, so that nothing but the loop catches it."""


class PendingResponse:
    """A response that is made when its send has been committed.

    `on_ready` is called with it on the loop when `complete` has been called, and then its `response` is to be made.
    """

    __slots__ = ("_outcome", "on_ready", "request")

    def __init__(self, outcome: Callable[[], Finish]) -> None:
        """`outcome` raises what the commit raised, NeedsThread where certainly nothing has happened; or it returns what
        makes the response."""
        self._outcome = outcome
        self.request: Request = current_request()
        self.on_ready: Callable[[PendingResponse], None] = _ignore

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
                raise RuntimeError("after its commit a request blocked on the event loop") from None
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
    """Have responses of one event loop made, and do something when they are. For any thread; returns at once."""
    loop = responses[0].request.loop
    assert loop is not None
    loop.call_soon_threadsafe(_complete, responses, then)


def _complete(responses: list[PendingResponse], then: Callable[[], object]) -> None:
    for response in responses:
        try:
            response.on_ready(response)
        except Exception:
            log.exception("a response could not be sent")
    then()


def _spent() -> Finish:
    raise RuntimeError("A response is made once.")


def _ignore(_: PendingResponse) -> None:
    """Nobody waits for the response."""
