"""Responses of endpoints, independent of Flask: complete, streamed CSV, or pending until a commit; and the problem that
an exception becomes.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import psycopg
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from api.event_loop import NeedsThread
from api.http.request import Request, handling
from api.problems import CATALOGUE, Problem
from shared.accounts.refused import Refused
from shared.db.connection import is_outage_or_timeout
from shared.db.encryption_keys import WrongTextKeys
from shared.db.errors import cause_of_rollback, is_disk_full, may_be_committed
from shared.encryption import TextKeyMissing, TextUnreadable
from shared.observability.logs import fields

log = logging.getLogger(__name__)

CONTENT_SECURITY_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"
NO_STORE = ("Cache-Control", "no-store")
CONSTANT = (("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", CONTENT_SECURITY_POLICY))

OF_STATUS = {
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
}
UNREADABLE = (WrongTextKeys, TextKeyMissing, TextUnreadable)
QUOTED_PATH = 100
"""Characters of the path that an error quotes."""
MAX_CACHED_NAMES = 1_000
"""Encoded header names kept in the cache."""

Header = tuple[str, str]
Finish = Callable[[], "Response"]


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
    """A streamed file, by default CSV. `lines` is consumed in a thread, outside `handling` the request."""

    __slots__ = ("headers", "lines")

    def __init__(self, lines: Iterator[str], filename: str, media_type: str = "text/csv; charset=utf-8") -> None:
        self.lines = lines
        self.headers: list[Header] = [
            ("Content-Type", media_type),
            ("Content-Disposition", f'attachment; filename="{filename}"'),
            NO_STORE,
        ]


class PendingResponse:
    """A response that can be built once `ready` completes, after the request's commit."""

    __slots__ = ("_outcome", "_request", "ready")

    def __init__(self, request: Request, ready: asyncio.Future[None], outcome: Callable[[], Finish]) -> None:
        """`outcome` raises the commit's error, or NeedsThread if certainly nothing was committed; otherwise it returns
        the function that builds the response."""
        self.ready = ready
        self._outcome = outcome
        self._request = request

    def response(self) -> Response:
        """Build the response. Raises NeedsThread if the request must be handled again in a thread.

        A committed request is never handled again: blocking after the commit is a bug and becomes a 500.
        """
        with handling(self._request):
            try:
                finish = self._outcome()
            except Exception as error:
                return error_response(error, self._request)
            try:
                return finish()
            except NeedsThread:
                blocked = RuntimeError("after its commit a request blocked on the event loop")
                return error_response(blocked, self._request)
            except Exception as error:
                return error_response(error, self._request)


def problem_response(problem: Problem, path: str, request_id: str) -> Response:
    """An error of the catalogue as `application/problem+json` (RFC 9457)."""
    body = json.dumps(problem.document(path[:500], request_id)).encode()
    headers = [("Content-Type", "application/problem+json"), NO_STORE, *problem.headers.items()]
    return Response(body, problem.kind.status, headers)


def error_response(error: Exception, request: Request, hint: str | None = None) -> Response:
    """The response to an exception that ended a request. `hint` replaces the default detail of an HTTP error."""
    problem = _problem(error, request, hint)
    request.summary.code = problem.code
    return problem_response(problem, request.http.path, request.request_id)


def _problem(error: Exception, request: Request, hint: str | None) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, Refused):
        return Problem(error.code, error.reason)
    if isinstance(error, HTTPException):
        return _of_http(error, request, hint)
    cause = cause_of_rollback(error)
    if isinstance(cause, Exception):
        return _problem(cause, request, hint)
    if may_be_committed(error):
        log.error("a commit got no response: %s", error, extra=fields(request_id=request.request_id))
        return Problem("gateway_timeout", "The connection to the database was lost during the commit.")
    if is_outage_or_timeout(error):
        return _unavailable(error, request)
    if isinstance(error, UNREADABLE):
        log.error("%s", error, extra=fields(request_id=request.request_id))
        return Problem(
            "unavailable", "Message texts cannot be read or stored at the moment.", headers={"Retry-After": "60"}
        )
    log.error("internal error", exc_info=error, extra=fields(request_id=request.request_id))
    return Problem("internal_error", "Something went wrong on our side.")


def _of_http(error: HTTPException, request: Request, hint: str | None) -> Problem:
    status = error.code or 500
    code = OF_STATUS.get(status, "bad_request" if status < 500 else "internal_error")
    path = request.http.path[:QUOTED_PATH]
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        allowed = ", ".join(sorted(error.valid_methods))
        detail = f"{path} does not take {request.http.method[:20]}, only {allowed}. {_reference(path)}"
        return Problem(code, detail, headers={"Allow": allowed})
    if isinstance(error, NotFound) and hint is None:
        hint = f"There is no path {path}. {_reference(path)}"
    return Problem(code, hint or CATALOGUE[code].title + ".")


def _reference(path: str) -> str:
    page = "/operator/reference" if path.startswith("/operator/") else "/reference"
    return f"The API reference, {page}, lists all paths and their methods."


def _unavailable(error: Exception, request: Request) -> Problem:
    cause = getattr(error, "orig", error)
    log.error("unavailable: %s", cause, extra=fields(request_id=request.request_id))
    detail = "The database's disk is full." if is_disk_full(error) else "The database did not respond in time."
    if request.environ["REQUEST_METHOD"] == "GET" and isinstance(cause, psycopg.errors.QueryCanceled):
        detail = "The query took too long. Request a shorter period or a smaller `limit`."
    return Problem("unavailable", detail, headers={"Retry-After": "2"})


def standard_headers(request: Request) -> list[Header]:
    """The headers of every response."""
    rate, left = request.rate_limit or (request.services.settings.requests_per_second,) * 2
    return [
        *CONSTANT,
        ("X-Request-Id", request.request_id),
        ("RateLimit-Policy", f'"requests";q={rate};w=1'),
        ("RateLimit", f'"requests";r={left};t=1'),
    ]


def encoded(headers: Iterable[Header]) -> list[tuple[bytes, bytes]]:
    """The headers as HTTP sends them."""
    return [(_encoded_name(name), value.encode("latin-1")) for name, value in headers]


@lru_cache(MAX_CACHED_NAMES)
def _encoded_name(name: str) -> bytes:
    return name.lower().encode("latin-1")
