"""The response to a request whose commit the event loop awaits."""

import asyncio
from collections.abc import Callable

from api.event_loop import NeedsThread
from api.http.errors import error_response
from api.http.request import Request, current_request, handling
from api.http.responses import Response

Finish = Callable[[], Response]


class PendingResponse:
    """A response that can be built once `ready` completes, after the request's commit."""

    __slots__ = ("_outcome", "_request", "ready")

    def __init__(self, ready: asyncio.Future[None], outcome: Callable[[], Finish]) -> None:
        """`outcome` raises the commit's error, or NeedsThread if certainly nothing was committed; otherwise it returns
        the function that builds the response."""
        self.ready = ready
        self._outcome = outcome
        self._request: Request = current_request()

    def response(self) -> Response:
        """Build the response. Raises NeedsThread if the request must be handled again in a thread.

        A committed request is never handled again: blocking after the commit is a bug and becomes a 500.
        """
        with handling(self._request):
            try:
                finish = self._outcome()
            except Exception as error:
                return error_response(error, self._request)
            try:
                return finish()
            except NeedsThread:
                blocked = RuntimeError("after its commit a request blocked on the event loop")
                return error_response(blocked, self._request)
            except Exception as error:
                return error_response(error, self._request)
