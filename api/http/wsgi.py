"""Convert ASGI requests to WSGI environments, and WSGI responses to ASGI."""

import sys
from collections.abc import Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from shared.db.cancellation import Cancellation

Environ = dict[str, Any]
Wsgi = Callable[..., Iterable[bytes]]
Headers = list[tuple[bytes, bytes]]

BASE: Environ = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.input_terminated": True,  # reads end at the end of the body, whatever its Content-Length
}
CANCELLATION = "bulksms.cancellation"
"""The key of a request's Cancellation in its WSGI environment."""
SCOPE = "asgi.scope"
"""The key of a request's ASGI scope in its WSGI environment."""
MAX_NAMES = 1_000
"""Header names kept in the caches."""

_keys: dict[bytes, str] = {}


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
        headers = [(_name(name), value.encode("latin-1")) for name, value in self._headers]
        if close:
            headers.append((b"connection", b"close"))
        return headers


def environ_of(scope: MutableMapping[str, Any], body: Any) -> Environ:
    """The WSGI environment (PEP 3333) of a request. `body` becomes `wsgi.input`.

    Headers with an underscore in the name are dropped: they could pass for the header spelt with a hyphen.
    """
    raw: bytes = scope["raw_path"]
    host, port = scope["server"] or ("", 0)
    environ = {
        **BASE,
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": (unquote_to_bytes(raw) if b"%" in raw else raw).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": scope["client"][0] if scope["client"] else "",
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        SCOPE: scope,
    }
    for name, value in scope["headers"]:
        key = _keys[name] if name in _keys else _key(name)
        if key in environ:
            environ[key] += "," + value.decode("latin-1")
        elif key:
            environ[key] = value.decode("latin-1")
    return environ


class StreamedResponse:
    """A response whose body is produced chunk by chunk, each in the thread that calls `next`."""

    def __init__(self, start: Start, environ: Environ, result: Iterable[bytes]) -> None:
        self.status = start.status
        self.headers = start.headers(close=environ["wsgi.input"].unread())
        self._result = result
        self._chunks = iter(result)
        self._cancellation = _cancellation(environ)

    def next(self) -> bytes | None:
        """The next chunk; None after the last. Raises Cancelled if the client has disconnected."""
        with self._cancellation.active():
            return next(self._chunks, None)

    def close(self) -> None:
        """Close the WSGI result; no more chunks are needed."""
        _close(self._result)


def call(app: Wsgi, environ: Environ) -> WholeResponse | StreamedResponse:
    """Call a WSGI application. The response is streamed if the application does not state its length."""
    start = Start()
    with _cancellation(environ).active():
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


def _cancellation(environ: Environ) -> Cancellation:
    return environ.setdefault(CANCELLATION, Cancellation())  # type: ignore[no-any-return]


def _close(result: Iterable[bytes]) -> None:
    """Call a result's `close`, as PEP 3333 requires."""
    close = getattr(result, "close", None)
    if close is not None:
        close()


def _key(name: bytes) -> str:
    """The header's key in the WSGI environment; empty for a header that is dropped."""
    text = name.decode("latin-1").upper().replace("-", "_")
    key = "" if b"_" in name else text if text in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{text}"
    if len(_keys) < MAX_NAMES:
        _keys[name] = key
    return key


@lru_cache(MAX_NAMES)
def _name(name: str) -> bytes:
    return name.lower().encode("latin-1")


def _no_write(_: bytes) -> None:
    raise NotImplementedError("write() is not supported; return the body from the application.")
