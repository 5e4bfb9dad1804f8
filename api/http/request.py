"""A request: its head, its WSGI environment and its state, and the current one, in a thread or on the event loop."""

import re
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextvars import ContextVar, Token
from random import random
from typing import Any
from urllib.parse import unquote_to_bytes

from werkzeug.wrappers import Request as HttpRequest

from shared.ids import random_bits

Environ = dict[str, Any]
Headers = list[tuple[bytes, bytes]]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
"""A request as ASGI describes it, and the functions by which its application receives the body and responds."""

MAX_HEAD_BYTES = 32 * 1024
"""Bytes of the whole head."""
MAX_LINE_BYTES = 8 * 1024
"""Bytes of the URL, or of one header."""
MAX_HEADERS = 100
VERSIONS = ("1.0", "1.1")
TOO_LARGE = (
    f"The head of the request is larger than {MAX_HEAD_BYTES:,} bytes, has more than {MAX_HEADERS} headers, or"
    f" a header of more than {MAX_LINE_BYTES:,} bytes."
)
UPGRADE = "A request that asks for another protocol (Upgrade, CONNECT) must not have a body."

SPACE = b" \t"
"""Around a header's value, and no part of it (RFC 9110 §5.5). The server removes it before the value only."""

BASE: Environ = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.input_terminated": True,  # reads end at the end of the body, whatever its Content-Length
}
SCOPE = "asgi.scope"
"""The key of a request's ASGI scope in its WSGI environment."""

MAX_CACHED_KEYS = 1_000
"""Header names whose keys are kept."""

_keys: dict[bytes, str] = {}

USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
SUMMARY = "bulksms.summary"
"""The key of a request's Summary in its ASGI scope."""
COMPLETE = "bulksms.complete"
"""The key of the time (monotonic) at which all of a request had arrived, in its ASGI scope; absent until then."""
TRACEPARENT = "bulksms.traceparent"
"""The key of the W3C traceparent of a request's span in its ASGI scope, if the request is traced."""
_current: ContextVar["Request | None"] = ContextVar("request", default=None)


def problem_of_head(url: bytes, headers: Headers, version: str) -> str:
    """Describe what is wrong with a head (RFC 9112 §3.2 and §6.1, and the sizes above); empty if it is valid."""
    size = longest = len(url)
    hosts = upgrades = 0
    codings: list[bytes] = []
    for name, value in headers:
        length = len(name) + len(value)
        size += length
        if length > longest:
            longest = length
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding":
            codings.append(value.rstrip(SPACE))
        elif name == b"upgrade":
            upgrades += 1
    if version not in VERSIONS:
        return f"HTTP/{version} is not supported."
    if hosts != 1 and (hosts or version == "1.1"):
        return f"The request has {hosts or 'no'} Host header{'s' if hosts else ''}; it must have exactly one."
    if codings and (version != "1.1" or len(codings) > 1 or codings[0].lower() != b"chunked"):
        return "The only supported Transfer-Encoding is `chunked`, given once, in HTTP/1.1."
    if size > MAX_HEAD_BYTES or longest > MAX_LINE_BYTES or len(headers) > MAX_HEADERS:
        return TOO_LARGE
    if upgrades and announced_length(headers) != 0:
        return UPGRADE
    return ""


def announced_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The announced length of a request's body in bytes; 0 without a body, None if unknown or malformed."""
    announced = b"0"
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            announced = value.rstrip(SPACE)
    return int(announced) if announced.isdigit() else None


def is_small(headers: Iterable[tuple[bytes, bytes]], limit: int) -> bool:
    """Whether a request announces a body of at most `limit` bytes, or has none."""
    length = announced_length(headers)
    return length is not None and length <= limit


def environ_of(scope: Scope, body: Any) -> Environ:
    """The WSGI environment (PEP 3333) of a request. `body` becomes `wsgi.input`.

    Headers with an underscore in the name are dropped: they could pass for the header spelled with a hyphen.
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
            environ[key] += "," + value.rstrip(SPACE).decode("latin-1")
        elif key:
            environ[key] = value.rstrip(SPACE).decode("latin-1")
    return environ


def _key(name: bytes) -> str:
    """The header's key in the WSGI environment; empty for a header that is dropped."""
    text = name.decode("latin-1").upper().replace("-", "_")
    key = "" if b"_" in name else text if text in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{text}"
    if len(_keys) < MAX_CACHED_KEYS:
        _keys[name] = key
    return key


class Summary:
    """What the server may know of a request when it has ended. It holds no body, and outlives the request."""

    __slots__ = ("account_id", "code", "is_sampled", "key_id", "request_id", "route", "send_id", "traceparent")

    def __init__(self, request_id: str, is_sampled: bool) -> None:
        self.request_id = request_id
        self.is_sampled = is_sampled
        """Whether the request is logged even if it succeeds, and with it the batches of its send."""
        self.route = ""
        """The endpoint: its method and path; empty before the request reaches one."""
        self.account_id: int | None = None
        self.key_id: str | None = None
        self.send_id: str | None = None
        """The send that the request creates or names."""
        self.code: str | None = None
        """Why it was refused, or failed: a code of the problem catalogue."""
        self.traceparent: str | None = None
        """The W3C traceparent of the request's span, if it is traced, and with it its send."""


def _unchanged(result: Any) -> Any:
    return result


def new_request_id() -> str:
    """An id for a request whose client gives none."""
    return f"req_{random_bits():016x}"


class Request:
    """One request: its WSGI environment (PEP 3333), the services for endpoints, and state kept while it is handled."""

    __slots__ = (
        "_http",
        "environ",
        "path",
        "rate_limit",
        "request_id",
        "services",
        "show",
        "summary",
    )

    def __init__(self, environ: Environ, services: Any) -> None:
        given = environ.get("HTTP_X_REQUEST_ID")
        self.environ = environ
        self.services = services
        self.request_id: str = given if given and USABLE.fullmatch(given) else new_request_id()
        """The client's X-Request-Id if it is usable, otherwise a generated one."""
        self.path = ""
        """The endpoint's path with the values of its variables: the same however the URL is spelled."""
        self.show: Callable[[Any], Any] = _unchanged
        """Shows what the endpoint returns by its response's schema."""
        self.rate_limit: tuple[int, int] | None = None
        """The caller's limit in requests per second, and how many are left now."""
        self.summary = Summary(self.request_id, random() < services.settings.request_log_sample_rate)
        self._http: HttpRequest | None = None
        if SCOPE in environ:
            environ[SCOPE][SUMMARY] = self.summary
            self.summary.traceparent = environ[SCOPE].get(TRACEPARENT)

    @property
    def http(self) -> HttpRequest:
        """The request as Werkzeug parses it."""
        if self._http is None:
            self._http = HttpRequest(self.environ, populate_request=False)
        return self._http

    @property
    def wants_csv(self) -> bool:
        """Whether the client prefers CSV to JSON."""
        return self.http.accept_mimetypes.best_match(["application/json", "text/csv"]) == "text/csv"


class handling:  # noqa: N801 - used like a function; a generator-based context manager is slower
    """Context manager that makes a request the `current_request`."""

    __slots__ = ("_request", "_token")

    def __init__(self, request: Request) -> None:
        self._request = request

    def __enter__(self) -> None:
        self._token: Token[Request | None] = _current.set(self._request)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def current_request() -> Request:
    """The request that is being handled."""
    request = _current.get()
    if request is None:
        raise RuntimeError("no request is being handled")
    return request
