"""An endpoint called without Flask, on the event loop or in a thread, and its response if the loop awaits a commit."""

import asyncio
from collections.abc import Callable
from typing import Any

from api.event_loop import NeedsThread
from api.http.request import Environ, Request, current_request, handling
from api.http.responses import Response, encoded, error_response, standard_headers
from api.http.wsgi import WholeResponse

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


class DirectEndpoint:
    """One endpoint with its error handling and standard headers."""

    def __init__(
        self,
        endpoint: Callable[[], Response | PendingResponse],
        services: Any,
        requests_per_second: int,
        sample_rate: float = 0.0,
    ) -> None:
        """`requests_per_second` is the limit of callers without their own; `sample_rate` is for the request log."""
        self._endpoint = endpoint
        self._services = services
        self._requests_per_second = requests_per_second
        self._sample_rate = sample_rate

    def request(self, environ: Environ) -> Request:
        """Create a request."""
        return Request(environ, self._services, self._sample_rate)

    def call(self, request: Request) -> Response | PendingResponse:
        """Handle a request. Raises NeedsThread if it would block the event loop."""
        with handling(request):
            try:
                return self._endpoint()
            except Exception as error:
                return error_response(error, request)

    def complete(self, request: Request, response: Response) -> WholeResponse:
        """Add the standard headers to a response, which is then ready to send."""
        # Unless the connection closes, the unread rest of the body would be parsed as the next request.
        ends = [(b"connection", b"close")] if request.environ["wsgi.input"].unread() else []
        headers = [*response.headers, *standard_headers(request, self._requests_per_second)]
        return WholeResponse(response.status, [*encoded(headers), *ends], response.body)
