"""The current request, whether Flask handles it in a thread or the event loop does."""

import re
from contextvars import ContextVar, Token
from typing import Any

from werkzeug.wrappers import Request as HttpRequest

from api.http.wsgi import SCOPE, Environ
from api.request_cost import Work, current_work
from shared.ids import random_bits

USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
ROUTE = "bulksms.route"
"""The key of a request's endpoint in its ASGI scope."""
_current: ContextVar["Request | None"] = ContextVar("request", default=None)


class Request:
    """One request: its WSGI environment (PEP 3333), the services for endpoints, and state kept while it is handled."""

    __slots__ = (
        "_http",
        "environ",
        "rate_limit",
        "request_id",
        "services",
        "work",
    )

    def __init__(self, environ: Environ, services: Any) -> None:
        given = environ.get("HTTP_X_REQUEST_ID")
        self.environ = environ
        self.services = services
        self.request_id: str = given if given and USABLE.fullmatch(given) else f"req_{random_bits():016x}"
        """The client's X-Request-Id if it is usable, otherwise a generated one."""
        self.rate_limit: tuple[int, int] | None = None
        """The caller's limit in requests per second, and how many are left now."""
        self.work = Work()
        self._http: HttpRequest | None = None

    @property
    def http(self) -> HttpRequest:
        """The request as Werkzeug parses it."""
        if self._http is None:
            self._http = HttpRequest(self.environ, populate_request=False)
        return self._http

    def set_route(self, route: str) -> None:
        """Tell the server which endpoint handles the request: its method and path."""
        scope = self.environ.get(SCOPE)
        if scope is not None:
            scope[ROUTE] = route

    @property
    def wants_csv(self) -> bool:
        """Whether the client prefers CSV to JSON."""
        return self.http.accept_mimetypes.best_match(["application/json", "text/csv"]) == "text/csv"


class handling:  # noqa: N801 - used like a function; a generator-based context manager is slower
    """Context manager that makes a request the `current_request`."""

    __slots__ = ("_request", "_token", "_work_token")

    def __init__(self, request: Request) -> None:
        self._request = request

    def __enter__(self) -> None:
        self._token: Token[Request | None] = _current.set(self._request)
        self._work_token = current_work.set(self._request.work)

    def __exit__(self, *_: object) -> None:
        current_work.reset(self._work_token)
        _current.reset(self._token)


def current_request() -> Request:
    """The request that is being handled."""
    request = _current.get()
    if request is None:
        raise RuntimeError("no request is being handled")
    return request


def request_or_none() -> Request | None:
    """The request that is being handled; None outside of one."""
    return _current.get()
