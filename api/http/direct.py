"""An endpoint called without Flask, on the event loop or in a thread."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from api.http.errors import error_response
from api.http.pending_response import PendingResponse
from api.http.request import Request, handling
from api.http.responses import Header, Response, standard_headers
from api.http.wsgi import Environ, WholeResponse

MAX_NAMES = 1_000
"""Encoded header names kept in the cache."""


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
        return WholeResponse(response.status, [*map(_encoded, headers), *ends], response.body)


def _encoded(header: Header) -> tuple[bytes, bytes]:
    return _name(header[0]), header[1].encode("latin-1")


@lru_cache(MAX_NAMES)
def _name(name: str) -> bytes:
    return name.lower().encode("latin-1")
