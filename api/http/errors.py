"""Turn any exception into a problem response."""

import logging

import psycopg
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from api.http.request import Request
from api.http.responses import Response, problem_response
from api.problems import CATALOGUE, Problem
from shared.db.cancellation import Cancelled
from shared.db.connection import is_away
from shared.db.encryption_keys import WrongTextKeys
from shared.db.full_disk import is_disk_full
from shared.encryption import TextKeyMissing, TextUnreadable
from shared.logs import fields

log = logging.getLogger(__name__)

OF_STATUS = {
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
}
UNREADABLE = (WrongTextKeys, TextKeyMissing, TextUnreadable)


def error_response(error: Exception, request: Request, hint: str | None = None) -> Response:
    """The response to an exception that ended a request. `hint` replaces the default detail of an HTTP error."""
    return problem_response(_problem(error, request, hint), request.http.path, request.request_id)


def _problem(error: Exception, request: Request, hint: str | None) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, Cancelled):
        return Problem("unavailable", "The client closed the connection.")
    if isinstance(error, HTTPException):
        return _of_http(error, hint)
    if is_away(error):
        return _unavailable(error, request)
    if isinstance(error, UNREADABLE):
        log.error("%s", error, extra=fields(request_id=request.request_id))
        return Problem(
            "unavailable", "Message texts cannot be read or stored at the moment.", headers={"Retry-After": "60"}
        )
    log.error("internal error", exc_info=error, extra=fields(request_id=request.request_id))
    return Problem("internal_error", "Something went wrong on our side.")


def _of_http(error: HTTPException, hint: str | None) -> Problem:
    status = error.code or 500
    code = OF_STATUS.get(status, "bad_request" if status < 500 else "internal_error")
    headers = {}
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return Problem(code, hint or CATALOGUE[code].title + ".", headers=headers)


def _unavailable(error: Exception, request: Request) -> Problem:
    cause = getattr(error, "orig", error)
    log.error("unavailable: %s", cause, extra=fields(request_id=request.request_id))
    detail = "The database's disk is full." if is_disk_full(error) else "The database did not respond in time."
    if request.environ["REQUEST_METHOD"] == "GET" and isinstance(cause, psycopg.errors.QueryCanceled):
        detail = "The query took too long. Request a shorter period or a smaller `limit`."
    return Problem("unavailable", detail, headers={"Retry-After": "2"})
