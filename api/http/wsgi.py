"""Call a WSGI application, and convert its response to ASGI: whole, or streamed."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from api.http.request import Environ, Headers
from api.http.responses import encoded

Wsgi = Callable[..., Iterable[bytes]]


class WholeResponse(NamedTuple):
    """A complete response."""

    status: int
    headers: Headers
    body: bytes


class Start:
    """A WSGI `start_response` that records the status and headers."""

    def __init__(self) -> None:
        self.status = 500
        self._headers: list[tuple[str, str]] = []

    def __call__(self, status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], None]:
        self.status = int(status[:3])
        self._headers = headers
        return _no_write

    @property
    def has_length(self) -> bool:
        """Whether the response has a Content-Length, or cannot have a body."""
        return self.status in (204, 304) or any(name.lower() == "content-length" for name, _ in self._headers)

    def headers(self, close: bool = False) -> Headers:
        """The headers in ASGI's form. With `close`, the connection closes after the response."""
        headers = encoded(self._headers)
        if close:
            headers.append((b"connection", b"close"))
        return headers


class StreamedResponse:
    """A response whose body is produced chunk by chunk, each in the thread that calls `next`."""

    def __init__(self, start: Start, environ: Environ, result: Iterable[bytes]) -> None:
        self.status = start.status
        self.headers = start.headers(close=environ["wsgi.input"].unread())
        self._result = result
        self._chunks = iter(result)

    def next(self) -> bytes | None:
        """The next chunk; None after the last."""
        return next(self._chunks, None)

    def close(self) -> None:
        """Close the WSGI result; no more chunks are needed."""
        _close(self._result)


def call(app: Wsgi, environ: Environ) -> WholeResponse | StreamedResponse:
    """Call a WSGI application. The response is streamed if the application does not state its length."""
    start = Start()
    result = app(environ, start)
    if start.has_length:
        return whole(start, environ, result)
    return StreamedResponse(start, environ, result)


def whole(start: Start, environ: Environ, result: Iterable[bytes]) -> WholeResponse:
    """Collect the complete response of a call that began with `start`."""
    try:
        # Unless the connection closes, the unread rest of the body would be parsed as the next request.
        return WholeResponse(start.status, start.headers(close=environ["wsgi.input"].unread()), b"".join(result))
    finally:
        _close(result)


def _close(result: Iterable[bytes]) -> None:
    """Call a result's `close`, as PEP 3333 requires."""
    close = getattr(result, "close", None)
    if close is not None:
        close()


def _no_write(_: bytes) -> None:
    raise NotImplementedError("write() is not supported; return the body from the application.")
