"""The current request, whether Flask handles it in a thread or the event loop does."""

import re
from contextvars import ContextVar, Token
from random import random
from typing import Any

from werkzeug.wrappers import Request as HttpRequest

from api.http.wsgi import SCOPE, Environ
from api.request_cost import Work, current_work
from shared.ids import random_bits

USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
SUMMARY = "bulksms.summary"
"""The key of a request's Summary in its ASGI scope."""
_current: ContextVar["Request | None"] = ContextVar("request", default=None)


class Summary:
    """What the server may know of a request when it has ended. It holds no body, and outlives the request."""

    __slots__ = ("account_id", "is_sampled", "key_id", "request_id", "route", "send_id")

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


class Request:
    """One request: its WSGI environment (PEP 3333), the services for endpoints, and state kept while it is handled."""

    __slots__ = (
        "_http",
        "environ",
        "rate_limit",
        "request_id",
        "services",
        "summary",
        "work",
    )

    def __init__(self, environ: Environ, services: Any, sample_rate: float = 0.0) -> None:
        """`sample_rate` is the share of requests that are logged even if they succeed."""
        given = environ.get("HTTP_X_REQUEST_ID")
        self.environ = environ
        self.services = services
        self.request_id: str = given if given and USABLE.fullmatch(given) else f"req_{random_bits():016x}"
        """The client's X-Request-Id if it is usable, otherwise a generated one."""
        self.rate_limit: tuple[int, int] | None = None
        """The caller's limit in requests per second, and how many are left now."""
        self.work = Work()
        self.summary = Summary(self.request_id, random() < sample_rate)
        self._http: HttpRequest | None = None
        if SCOPE in environ:
            environ[SCOPE][SUMMARY] = self.summary

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
