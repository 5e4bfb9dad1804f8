"""The current request, whether Flask handles it in a thread or the event loop does."""

import asyncio
import re
from contextvars import ContextVar, Token
from typing import Any

from werkzeug.wrappers import Request as HttpRequest

from api.http.wsgi import Environ
from shared.ids import random_bits

USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_current: ContextVar["Request | None"] = ContextVar("request", default=None)


class Request:
    """One request: its WSGI environment (PEP 3333), the services for endpoints, and state kept while it is handled."""

    __slots__ = (
        "_http",
        "cost",
        "environ",
        "loop",
        "rate_limit",
        "recipient_counted",
        "recipients_priced",
        "request_id",
        "services",
    )

    def __init__(self, environ: Environ, services: Any, loop: asyncio.AbstractEventLoop | None = None) -> None:
        given = environ.get("HTTP_X_REQUEST_ID")
        self.environ = environ
        self.services = services
        self.loop = loop
        """The event loop that handles the request, which must not block; None in a thread."""
        self.request_id: str = given if given and USABLE.fullmatch(given) else f"req_{random_bits():016x}"
        """The client's X-Request-Id if it is usable, otherwise a generated one."""
        self.rate_limit: tuple[int, int] | None = None
        """The caller's limit in requests per second, and how many are left now."""
        self.cost = 0.0
        """The cost of its work, in requests (api/http/request_cost.py)."""
        self.recipients_priced = 0
        """Recipients of a message with placeholders that were priced. 0 again if the send is accepted."""
        self.recipient_counted = False
        """Whether the message was counted against the recipient's limit."""
        self._http: HttpRequest | None = None

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


def request_or_none() -> Request | None:
    """The request that is being handled; None outside of one."""
    return _current.get()


def is_on_event_loop() -> bool:
    """Whether a request is being handled on the event loop, where nothing may block."""
    request = _current.get()
    return request is not None and request.loop is not None
