"""Framework-independent responses of endpoints: complete, or streamed CSV."""

import json
from collections.abc import Iterable, Iterator

from api.http.request import Request
from api.problems import Problem

CONTENT_SECURITY_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"
NO_STORE = ("Cache-Control", "no-store")
CONSTANT = (("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", CONTENT_SECURITY_POLICY))

Header = tuple[str, str]


class Response:
    """A complete response."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, body: bytes = b"", status: int = 200, headers: Iterable[Header] = ()) -> None:
        self.body = body
        self.status = status
        self.headers = [*headers, ("Content-Length", str(len(body)))]


class JsonResponse(Response):
    """A JSON response that may not be stored in caches."""

    __slots__ = ()

    def __init__(self, body: str, status: int = 200, headers: Iterable[Header] = ()) -> None:
        super().__init__(body.encode(), status, (("Content-Type", "application/json"), NO_STORE, *headers))


class CsvResponse:
    """A streamed CSV file. `lines` is consumed in a thread, outside `handling` the request."""

    __slots__ = ("headers", "lines")

    def __init__(self, lines: Iterator[str], filename: str) -> None:
        self.lines = lines
        self.headers: list[Header] = [
            ("Content-Type", "text/csv; charset=utf-8"),
            ("Content-Disposition", f'attachment; filename="{filename}"'),
            NO_STORE,
        ]


def problem_response(problem: Problem, path: str, request_id: str) -> Response:
    """An error of the catalogue as `application/problem+json` (RFC 9457)."""
    body = json.dumps(problem.document(path[:500], request_id)).encode()
    headers = [("Content-Type", "application/problem+json"), NO_STORE, *problem.headers.items()]
    return Response(body, problem.kind.status, headers)


def standard_headers(request: Request, requests_per_second: int) -> list[Header]:
    """The headers of every response. `requests_per_second` is the limit of callers without their own."""
    rate, left = request.rate_limit or (requests_per_second, requests_per_second)
    return [
        *CONSTANT,
        ("X-Request-Id", request.request_id),
        ("RateLimit-Policy", f'"requests";q={rate};w=1'),
        ("RateLimit", f'"requests";r={left};t=1'),
    ]
