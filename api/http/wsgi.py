"""A request as WSGI describes it, of what ASGI says about it, and an answer the other way round."""

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
    "wsgi.input_terminated": True,  # it ends by itself, however long it was said to be
}
CANCELLATION = "bulksms.cancellation"
"""The key of a request's Cancellation in its environment."""
MAX_NAMES = 1_000
"""Names of headers whose keys are remembered."""

_keys: dict[bytes, str] = {}


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    headers: Headers
    body: bytes


class Start:
    """What WSGI calls `start_response`: it takes down what the answer begins with."""

    def __init__(self) -> None:
        self.status = 500
        self._headers: list[tuple[str, str]] = []

    def __call__(self, status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], None]:
        self.status = int(status[:3])
        self._headers = headers
        return _no_write

    @property
    def has_length(self) -> bool:
        """Whether the answer says how long its body is, or can have none."""
        return self.status in (204, 304) or any(name.lower() == "content-length" for name, _ in self._headers)

    def headers(self, close: bool = False) -> Headers:
        """The headers as ASGI has them. With `close`, the connection ends after the answer."""
        made = [(_name(name), value.encode("latin-1")) for name, value in self._headers]
        if close:
            made.append((b"connection", b"close"))
        return made


def environ_of(scope: MutableMapping[str, Any], body: Any) -> Environ:
    """The request's environment by PEP 3333. The body is what can be read.

    A header with an underscore in its name is left out: it would be taken for the one with a hyphen.
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
    }
    for name, value in scope["headers"]:
        key = _keys[name] if name in _keys else _key(name)
        if key in environ:
            environ[key] += "," + value.decode("latin-1")
        elif key:
            environ[key] = value.decode("latin-1")
    return environ


class StreamedAnswer:
    """An answer that is sent as it is made: its status, its headers, and one chunk of its body after the other.

    Each is made in whatever thread asks for it.
    """

    def __init__(self, start: Start, environ: Environ, result: Iterable[bytes]) -> None:
        self.status = start.status
        self.headers = start.headers(close=environ["wsgi.input"].unread())
        self._result = result
        self._chunks = iter(result)
        self._cancellation = _cancellation(environ)

    def next(self) -> bytes | None:
        """The next chunk; None after the last. Raises Cancelled where the client has left meanwhile."""
        with self._cancellation.active():
            return next(self._chunks, None)

    def close(self) -> None:
        """No more is wanted."""
        _close(self._result)


def call(app: Wsgi, environ: Environ) -> Answer | StreamedAnswer:
    """Call an application. Returns its answer: whole, or as it is made where it does not say how long it is."""
    start = Start()
    with _cancellation(environ).active():
        result = app(environ, start)
        if start.has_length:
            return whole(start, environ, result)
    return StreamedAnswer(start, environ, result)


def whole(start: Start, environ: Environ, result: Iterable[bytes]) -> Answer:
    """The answer that a call began with `start`, when all of it is here."""
    try:
        # What is left of a body would be taken for the next request's, if the connection did not end.
        return Answer(start.status, start.headers(close=environ["wsgi.input"].unread()), b"".join(result))
    finally:
        _close(result)


def _cancellation(environ: Environ) -> Cancellation:
    return environ.setdefault(CANCELLATION, Cancellation())  # type: ignore[no-any-return]


def _close(result: Iterable[bytes]) -> None:
    """Tell a result that it is not needed any more, as PEP 3333 has it."""
    close = getattr(result, "close", None)
    if close is not None:
        close()


def _key(name: bytes) -> str:
    """That of a header in the environment; empty for none."""
    text = name.decode("latin-1").upper().replace("-", "_")
    key = "" if b"_" in name else text if text in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{text}"
    if len(_keys) < MAX_NAMES:
        _keys[name] = key
    return key


@lru_cache(MAX_NAMES)
def _name(name: str) -> bytes:
    return name.lower().encode("latin-1")


def _no_write(_: bytes) -> None:
    raise NotImplementedError("Answers are returned, not written.")
