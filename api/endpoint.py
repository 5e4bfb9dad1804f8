"""Declare endpoints: a function, with its contract in a decorator.

    @endpoint("POST", "/sms/send", body=SingleSend, response=SingleResponse, errors=("low_balance",), scope="sms:send")
    def send(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
        "Send one message to one phone."

The contract drives the checks before the function is called, and the OpenAPI document. There are two APIs, for
customers and for operators; `api` names the one that an operation belongs to.
"""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial, wraps
from typing import Any

from marshmallow import Schema, ValidationError

from api.auth.operator_tokens import Operator
from api.auth.person_sessions import SignedIn, read_session
from api.auth.tokens import Caller, ip_not_allowed
from api.http.client_address import address_of
from api.http.json_body import LARGE_BODY, SMALL_BODY, UNSTORABLE, read_json
from api.http.replica_reads import ReplicaReads
from api.http.request import Environ, Request, current_request, handling
from api.http.responses import (
    CsvResponse,
    JsonResponse,
    PendingResponse,
    Response,
    encoded,
    error_response,
    standard_headers,
)
from api.http.wsgi import WholeResponse
from api.idempotency import IdempotentResponse, Key, key_of
from api.operations import Api, Function
from api.operations import Endpoint as Endpoint
from api.problems import Problem, invalid
from api.schemas.errors import errors_of
from api.schemas.fields import timestamp
from api.services import Services
from shared.api_key import is_within

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
) -> Callable[[Function], Function]:
    """Declare an operation, by default of the customers' API. `scope=""` needs a token with any scopes, `scope=None` no
    token, or with `session` that of a person's session; `large` accepts bodies of up to 8 MB instead of 64 kB.

    The function gets `caller` if a token is required, or `signed_in` with a session, `body` and `query` if they are
    declared, and the variables of its path, all by keyword. What it returns is shown by the schema of the response, if
    it is no response yet.
    """

    def declare(function: Function) -> Function:
        of = api or CUSTOMERS
        operation = Endpoint(of, method, path, function, body, query, response, tuple(errors), scope, session, large)
        of.operations.append(operation)
        return function

    return declare


def services() -> Services:
    """The services of the application that handles the current request."""
    current: Services = current_request().services
    return current


def replica_reads() -> ReplicaReads:
    """Reads of the current request that a replica may answer."""
    current = services()
    return ReplicaReads(current.engine, current.replica)


def handler_of(operation: Endpoint) -> Callable[..., Any]:
    """The function that handles the current request with an operation; it takes the path's variables by keyword."""
    body_schema = operation.body() if operation.body else None
    query_schema = operation.query() if operation.query else None
    limit = LARGE_BODY if operation.large else SMALL_BODY
    function, scope, show = operation.function, operation.scope, operation.response().dump
    path = operation.url_template
    route = f"{operation.method} {path}"

    @wraps(function)
    def handle(**arguments: Any) -> Response | CsvResponse | PendingResponse:
        request = current_request()
        summary = request.summary
        summary.route = route
        request.path = path.format(**arguments) if arguments else path
        request.show = show
        if "send_id" in arguments:
            summary.send_id = str(arguments["send_id"])
        if scope is not None:
            arguments["caller"] = operation.api.authenticate(request, scope)
        if operation.session:
            arguments["signed_in"] = authenticate_person(request)
        if body_schema is not None:
            arguments["body"] = load(body_schema, read_json(request, limit))
        if query_schema is not None:
            arguments["query"] = load(query_schema, _query_values())
        result = function(**arguments)
        if isinstance(result, IdempotentResponse):
            return idempotent_response(result)
        if isinstance(result, (PendingResponse, Response, CsvResponse)):
            return result
        return json_response(show(result))

    return handle


class DirectEndpoint:
    """One endpoint with its error handling and standard headers, called without Flask, on the loop or in a thread.

    The request's body has arrived whole.
    """

    def __init__(
        self,
        endpoint: Callable[[], Response | PendingResponse],
        services: Any,
        requests_per_second: int,
        sample_rate: float = 0.0,
    ) -> None:
        """`requests_per_second` is the limit of callers without their own; `sample_rate` is for the request log."""
        self._endpoint = endpoint
        self._services = services
        self._requests_per_second = requests_per_second
        self._sample_rate = sample_rate

    def request(self, environ: Environ) -> Request:
        """Create a request."""
        return Request(environ, self._services, self._sample_rate)

    def call(self, request: Request) -> Response | PendingResponse:
        """Handle a request. Raises NeedsThread if it would block the event loop."""
        with handling(request):
            try:
                return self._endpoint()
            except Exception as error:
                return error_response(error, request)

    def complete(self, request: Request, response: Response) -> WholeResponse:
        """Add the standard headers to a response, which is then ready to send."""
        headers = [*response.headers, *standard_headers(request, self._requests_per_second)]
        return WholeResponse(response.status, encoded(headers), response.body)


def direct_endpoint(method: str, path: str, services: Services) -> DirectEndpoint:
    """A declared operation, callable without Flask."""
    operation = next(each for each in ENDPOINTS if (each.method, each.path) == (method, path))
    limit, sample_rate = services.settings.requests_per_second, services.settings.request_log_sample_rate
    return DirectEndpoint(handler_of(operation), services, limit, sample_rate)


def authenticate(request: Request, scope: str) -> Caller:
    """Authenticate a request and count it against the rate limits. Raises Problem for 401, 403 and 429."""
    services: Services = request.services
    caller = services.tokens.read(request.environ.get("HTTP_AUTHORIZATION"))
    if caller.networks and not is_within(client_address(), caller.networks):
        raise ip_not_allowed(client_address())
    request.summary.account_id, request.summary.key_id = caller.account_id, caller.key_id
    services.rate_limits.take(request, caller)
    if caller.test and scope.startswith("people:"):
        raise Problem("insufficient_scope", "People belong to the live account: a test token does not manage them.")
    if scope:
        need_scope(caller, scope)
    return caller


def authenticate_operator(request: Request, scope: str) -> Operator:
    """Authenticate a request to the operator API, as `authenticate` does."""
    services: Services = request.services
    operator = services.operator_tokens.read(request.environ.get("HTTP_AUTHORIZATION"))
    if operator.networks and not is_within(client_address(), operator.networks):
        raise ip_not_allowed(client_address())
    services.rate_limits.take_of_operator(request, operator)
    if scope:
        need_scope(operator, scope)
    return operator


def authenticate_person(request: Request) -> SignedIn:
    """Authenticate the request of a session and count it against the rate limits. Raises Problem for 401 and 429."""
    services: Services = request.services
    signed_in = read_session(services.engine, request.environ.get("HTTP_AUTHORIZATION"))
    services.rate_limits.take_of_session(request, signed_in)
    return signed_in


def need_scope(caller: Caller | Operator, scope: str) -> None:
    """Raise Problem insufficient_scope unless the caller's token has the scope."""
    if scope not in caller.scopes:
        raise Problem("insufficient_scope", f"This token does not have the scope {scope}.", scope=scope)


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
    request = current_request()
    given = request.environ.get("HTTP_IDEMPOTENCY_KEY")
    if given is None:
        return None
    if UNSTORABLE.search(request.path):
        raise Problem("not_found", "There is nothing at this path.")
    return key_of(caller, request.path, given, body)


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
operator_endpoint = partial(endpoint, api=OPERATORS)
"""Declares an operation of the operator API."""
