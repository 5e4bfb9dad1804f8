"""The headers that every answer carries, added outside of Flask, where an answer's headers are still a list."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from api.http.wsgi import Environ, Wsgi
from shared.ids import random_bits

REQUEST_ID = "bulksms.request_id"
"""In the request's environment: the client's X-Request-Id where it is usable, or one of ours."""
RATE = "bulksms.rate"
"""In the request's environment: requests per second that the caller may make, and how many are left now."""

USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}")
CONTENT_SECURITY_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"


class StandardHeaders:
    """WSGI middleware. `rate` is the limit of requests per second of whoever has no other."""

    def __init__(self, app: Wsgi, rate: int) -> None:
        self._app = app
        self._rate = rate
        self._constant = [
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
        ]

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID")
        identifier = given if given and USABLE.fullmatch(given) else f"req_{random_bits():016x}"
        environ[REQUEST_ID] = identifier

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            headers += self._constant
            headers.append(("X-Request-Id", identifier))
            rate, left = environ.get(RATE) or (self._rate, self._rate)
            headers.append(("RateLimit-Policy", f'"requests";q={rate};w=1'))
            headers.append(("RateLimit", f'"requests";r={left};t=1'))
            return start_response(status, headers, *error)

        return self._app(environ, start)
