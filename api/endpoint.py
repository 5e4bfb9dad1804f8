"""Declare endpoints: a function, with its contract in a decorator.

    @endpoint("POST", "/sms/send", body=SingleSend, response=SingleResponse, errors=("low_balance",), scope="sms:send")
    def send_one(caller: Caller, body: dict) -> dict:
        "Send one message to one phone."

The contract drives the checks before the function is called, and the OpenAPI document. There are two APIs, for
customers and for operators; `api` names the one that an operation belongs to.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import wraps
from typing import Any

from marshmallow import Schema, ValidationError

from api.auth.operator_tokens import Operator
from api.auth.person_sessions import read_session
from api.auth.tokens import Caller, ip_not_allowed
from api.commit.idempotency import IdempotentResponse, Key, key_of
from api.http.client_ip import address_of
from api.http.direct import DirectEndpoint, PendingResponse
from api.http.json_body import LARGE_BODY, SMALL_BODY, UNSTORABLE, read_json
from api.http.reports import Reports
from api.http.request import Request, current_request
from api.http.responses import CsvResponse, JsonResponse, Response
from api.operations import Api, Function
from api.operations import Endpoint as Endpoint
from api.problems import Problem, invalid
from api.request_cost import BYTES_PER_REQUEST, ROWS_PER_REQUEST, add_bytes, add_rows
from api.schemas.errors import errors_of
from api.schemas.fields import timestamp
from api.services import Services
from shared.accounts.limits import Limits
from shared.api_key import is_within
from shared.db.cancellation import allow_cancellation
from shared.plurals import counted
from shared.settings import Settings

PREFIX = "/api/v1"
OPERATOR_PREFIX = "/operator/v1"
REPLAYED = (("Idempotency-Replayed", "true"),)


def endpoint(
    method: str,
    path: str,
    *,
    api: Api | None = None,
    body: type[Schema] | None = None,
    query: type[Schema] | None = None,
    response: type[Schema],
    errors: Iterable[str] = (),
    scope: str | None,
    session: bool = False,
    large: bool = False,
    cancellable: bool | None = None,
) -> Callable[[Function], Function]:
    """Declare an operation, by default of the customers' API. `scope=None` needs no token, or with `session` that of a
    person's session; `large` accepts bodies of up to 8 MB instead of 64 kB.

    The database statements of a `cancellable` operation, which must not change anything, are canceled when its client
    disconnects. By default, GET operations are cancellable.

    The function gets `caller` if a token is required, or `signed_in` with a session, `body` and `query` if they are
    declared, and the variables of its path, all by keyword.
    """

    def declare(function: Function) -> Function:
        may_cancel = method == "GET" if cancellable is None else cancellable
        of = api or CUSTOMERS
        operation = Endpoint(
            of, method, path, function, body, query, response, tuple(errors), scope, session, large, may_cancel
        )
        of.operations.append(operation)
        return function

    return declare


def services() -> Services:
    """The services of the application that handles the current request."""
    current: Services = current_request().services
    return current


def reports() -> Reports:
    """Reads of the current request that a replica may answer."""
    work = services()
    return Reports(work.engine, work.replica)


def handler_of(operation: Endpoint) -> Callable[..., Any]:
    """The function that handles the current request with an operation; it takes the path's variables by keyword."""
    body_schema = operation.body() if operation.body else None
    query_schema = operation.query() if operation.query else None
    limit = LARGE_BODY if operation.large else SMALL_BODY
    function, scope = operation.function, operation.scope
    route = f"{operation.method} {operation.url_template}"

    @wraps(function)
    def handle(**arguments: Any) -> Response | CsvResponse | PendingResponse:
        summary = current_request().summary
        summary.route = route
        if "send_id" in arguments:
            summary.send_id = str(arguments["send_id"])
        if operation.cancellable:
            allow_cancellation()
        try:
            return respond(arguments)
        finally:
            request = current_request()
            if request.work.requests or request.work.recipients_priced:
                _charge(request, arguments.get("caller"))

    def respond(arguments: dict[str, Any]) -> Response | CsvResponse | PendingResponse:
        if scope is not None:
            arguments["caller"] = operation.api.authenticate(scope)
        if operation.session:
            header = current_request().environ.get("HTTP_AUTHORIZATION")
            arguments["signed_in"] = read_session(services().engine, header)
        if body_schema is not None:
            arguments["body"] = load(body_schema, read_json(limit))
        if query_schema is not None:
            arguments["query"] = load(query_schema, _query_values())
        result = function(**arguments)
        if isinstance(result, IdempotentResponse):
            return idempotent_response(result)
        if isinstance(result, CsvResponse):
            result.lines = _charged(result.lines, arguments["caller"].payer)
        elif isinstance(result, dict) and isinstance(result.get("data"), list):
            add_rows(len(result["data"]))
        if isinstance(result, (PendingResponse, Response, CsvResponse)):
            return result
        response = json_response(result)
        add_bytes(len(response.body))
        return response

    return handle


def _charge(request: Request, caller: Caller | Operator | None) -> None:
    """Charge the caller for the work of its request, beyond the one request already counted."""
    cost = int(request.work.cost()) - 1
    if caller is not None and cost > 0:
        left = services().requests.charge(caller.payer, cost)
        if request.rate_limit is not None:
            rate, before = request.rate_limit
            request.rate_limit = (rate, max(0, min(before, int(left))))


def _charged(lines: Iterator[str], payer: int | str) -> Iterator[str]:
    """The lines of an export, charged as they are written."""
    requests = services().requests

    def written() -> Iterator[str]:
        for chunk in lines:
            requests.charge(payer, max(chunk.count("\n") / ROWS_PER_REQUEST, len(chunk) / BYTES_PER_REQUEST))
            yield chunk

    return written()


def direct_endpoint(method: str, path: str, work: Services) -> DirectEndpoint:
    """A declared operation, callable without Flask."""
    operation = next(each for each in ENDPOINTS if (each.method, each.path) == (method, path))
    settings = work.settings
    return DirectEndpoint(handler_of(operation), work, settings.requests_per_second, settings.request_log_sample_rate)


def authenticate(scope: str) -> Caller:
    """Authenticate the request and count it against the rate limits. Raises Problem for 401, 403 and 429."""
    work = services()
    caller = work.tokens.read(current_request().environ.get("HTTP_AUTHORIZATION"))
    if caller.networks and not is_within(client_address(), caller.networks):
        raise ip_not_allowed(client_address())
    take_request(caller)
    if caller.test and scope.startswith("people:"):
        raise Problem("insufficient_scope", "People belong to the live account: a test token does not manage them.")
    if scope:
        need_scope(caller, scope)
    return caller


def authenticate_operator(scope: str) -> Operator:
    """Authenticate a request to the operator API, as `authenticate` does."""
    work = services()
    operator = work.operator_tokens.read(current_request().environ.get("HTTP_AUTHORIZATION"))
    if operator.networks and not is_within(client_address(), operator.networks):
        raise ip_not_allowed(client_address())
    take_operator_request(operator)
    if scope:
        need_scope(operator, scope)
    return operator


def need_scope(caller: Caller | Operator, scope: str) -> None:
    """Raise Problem insufficient_scope unless the caller's token has the scope."""
    if scope not in caller.scopes:
        raise Problem("insufficient_scope", f"This token does not have the scope {scope}.", scope=scope)


def take_request(caller: Caller) -> None:
    """Count the request against the account's rate limit, and the key's if it has one. Raises Problem rate_limited.

    A request that is handled again in a thread (api/event_loop.py) is counted only once. From now on its log line names
    the caller.
    """
    request = current_request()
    request.summary.account_id, request.summary.key_id = caller.account_id, caller.key_id
    if request.rate_limit is not None:
        return
    work = services()
    requests = work.requests
    rate = requests_per_second(work.settings, work.tokens.limits_of(caller.account_id), caller)
    left = requests.take(caller.account_id, rate=rate)
    if left >= 0 and caller.rate is not None and caller.rate < rate:
        rate, left = caller.rate, requests.take(caller.key_id, rate=caller.rate)
    request.rate_limit = (rate, max(0, int(left)))
    _refuse_above(rate, left)


def take_operator_request(operator: Operator) -> None:
    """Count the request against the operator's own rate limit. Raises Problem rate_limited."""
    work = services()
    rate = work.settings.requests_per_second
    left = work.requests.take(operator.payer, rate=rate)
    current_request().rate_limit = (rate, max(0, int(left)))
    _refuse_above(rate, left)


def _refuse_above(rate: int, left: float) -> None:
    if left < 0:
        raise Problem(
            "rate_limited",
            f"The limit is {counted(rate, 'request')} per second, or equivalent work (`request_cost` in GET /limits).",
            headers={"Retry-After": str(services().requests.wait(left, rate))},
        )


def requests_per_second(settings: Settings, limits: Limits, caller: Caller) -> int:
    """The request limit of the caller's account, or of its sandbox for a test key."""
    rate = limits.requests_per_second or settings.requests_per_second
    return min(rate, settings.sandbox_requests_per_second) if caller.test else rate


def client_address() -> str:
    """The client's address, as reported by trusted proxies."""
    return address_of(current_request().environ, services().settings.trusted_proxies)


def load(schema: Schema, values: dict[str, Any]) -> dict[str, Any]:
    """Validate values with a schema. Raises Problem validation_failed with every error."""
    try:
        loaded: dict[str, Any] = schema.load(values)
    except ValidationError as error:
        raise invalid(errors_of(schema, error)) from None
    return loaded


def key_of_request(caller: Caller | Operator, body: dict[str, Any] | None) -> Key | None:
    """The request's `Idempotency-Key`; None without one. Raises Problem unless it can be used."""
    environ = current_request().environ
    given = environ.get("HTTP_IDEMPOTENCY_KEY")
    if given is None:
        return None
    path = "/" + environ["PATH_INFO"].strip("/")  # extra slashes lead to the same view
    return key_of(caller, path, given, body)


def idempotent_response(response: IdempotentResponse) -> JsonResponse:
    """A JSON response that says whether it is a replay."""
    return JsonResponse(response.body, headers=REPLAYED if response.replayed else ())


def json_response(document: Any, status: int = 200) -> JsonResponse:
    """A JSON response. A string is used unchanged as the body."""
    body = document if isinstance(document, str) else json.dumps(document, separators=(",", ":"), default=_as_text)
    return JsonResponse(body, status)


def _as_text(value: Any) -> Any:
    return timestamp(value) if isinstance(value, datetime) else str(value)


def _query_values() -> dict[str, Any]:
    given = current_request().http.args
    for key in given:
        values = given.getlist(key)
        if len(values) > 1 or UNSTORABLE.search(values[0]):
            detail = "Use the parameter once." if len(values) > 1 else "Remove the NUL character."
            raise invalid([{"pointer": f"/{key[:40]}", "code": "invalid", "detail": detail}])
    return given.to_dict()


CUSTOMERS = Api(PREFIX, authenticate)
OPERATORS = Api(OPERATOR_PREFIX, authenticate_operator)
ENDPOINTS = CUSTOMERS.operations
