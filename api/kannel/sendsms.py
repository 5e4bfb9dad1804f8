"""`/cgi-bin/sendsms`, as Kannel has it. The answers are its own: a status and a text."""

import json
from typing import Any, Final

import flask
from flask import Flask

from api.accept.accept import accept
from api.endpoint import client_address
from api.http.json_body import SMALL_BODY, read_bytes
from api.http.request import Environ, Request, current_request
from api.http.responses import NO_STORE, encoded, error_response
from api.http.wsgi import WholeResponse
from api.idempotency import IdempotentResponse
from api.kannel.parameters import Given, Refused, checked, given_in, login_of
from api.kannel.sends import send_of
from api.limits.bulkheads import KnownLogins
from api.problems import Problem
from api.protocols.logins import caller_of, log_in
from shared.accounts.smpp_credentials import Credential

SENDSMS: Final = "/cgi-bin/sendsms"
ACCEPTED: Final = "0: Accepted for delivery"
NOT_AUTHORIZED: Final = Refused(403, "Authorization failed for sendsms")
TEMPORARY: Final = "Temporal failure, try again later."
UNKNOWN: Final = "Unknown: it may have been accepted."
PLAIN: Final = (("Content-Type", "text/plain; charset=utf-8"), NO_STORE)
"""A reason may quote the request, which no browser may take for a page."""
BUSY: Final = WholeResponse(503, encoded([*PLAIN, ("Connection", "close"), ("Retry-After", "1")]), TEMPORARY.encode())
"""For a client with too many requests under way."""
LOGIN_CODES: Final = ("invalid_credentials", "ip_not_allowed", "account_suspended")
PARAMETERS: Final = {
    "/sender_id": "from", "/phone": "to", "/message": "text", "/send_at": "deferred", "/expires_at": "validity",
    "/callback_url": "dlr-url", "/reference": "account",
}  # fmt: skip
"""Parameters by the fields of a send."""


def add_sendsms(app: Flask) -> None:
    """Serve Kannel's API."""

    @app.route(SENDSMS, methods=["GET", "POST"], provide_automatic_options=False)
    def sendsms() -> flask.Response:
        """Send a text to one or more phone numbers."""
        request = current_request()
        request.summary.route = f"{request.http.method} {SENDSMS}"
        try:
            given = given_in(request.environ, read_bytes(request, SMALL_BODY))
            credential = log_in(request.services, *login_of(given), client_address())
            _accept(request, credential, given)
        except Exception as error:
            return _refusal(error, request)
        return _answer(202, ACCEPTED)


def known_account(logins: KnownLogins, environ: Environ) -> int | None:
    """The account whose login is in the query or the head of a request, if it was right the last time."""
    try:
        return logins.account_of(*login_of(given_in(environ)))
    except Refused:
        return None


def _accept(request: Request, credential: Credential, given: Given) -> None:
    """Accept the send. Returns after its commit. Raises Refused, Problem and errors of the database."""
    caller, summary = caller_of(credential), request.summary
    summary.account_id, summary.key_id = caller.account_id, caller.key_id
    request.services.rate_limits.take(request, caller)
    kind, body = send_of(checked(given, credential.default_sender))
    request_id = request.request_id if summary.is_sampled else None
    accepted = accept(request.services, caller, kind, body, None, request_id, summary.traceparent)
    assert isinstance(accepted, IdempotentResponse)
    summary.send_id = json.loads(accepted.body)["send_id"]


def _refusal(error: Exception, request: Request) -> flask.Response:
    """The answer to an exception. Problems that smsbox does not have are 402 for credits, otherwise 400."""
    if isinstance(error, Problem) and error.code in LOGIN_CODES:
        error = NOT_AUTHORIZED
    if isinstance(error, Refused):
        return _answer(error.status, error.text)
    response = error_response(error, request)
    if response.status == 504:
        return _answer(504, UNKNOWN)
    if response.status >= 500 or response.status == 429:
        return _answer(503, TEMPORARY, [each for each in response.headers if each[0] == "Retry-After"])
    return _answer(402 if response.status == 402 else 400, _reason(json.loads(response.body)))


def _reason(problem: dict[str, Any]) -> str:
    """The reason in a problem: that of the first field if there are any."""
    wrong = (problem.get("errors") or [{}])[0]
    parameter = PARAMETERS.get(wrong.get("pointer", ""))
    return f"{parameter}: {wrong['detail']}" if parameter else str(problem["detail"])


def _answer(status: int, text: str, headers: Any = ()) -> flask.Response:
    return flask.Response(text, status, [*PLAIN, *headers])
