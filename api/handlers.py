"""Handle requests with the declared operations: what their functions ask for, and their responses."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from sqlalchemy import Connection

from api.act_once import act_once, need_account, transaction_of
from api.actor import by_caller
from api.endpoint import (
    ENDPOINTS,
    OPERATORS,
    authenticate_person,
    idempotent_response,
    json_response,
    load,
    services,
)
from api.http.bounded_queries import reading_list
from api.http.json_body import LARGE_BODY, SMALL_BODY, UNSTORABLE, read_json
from api.http.pagination import page
from api.http.request import Environ, Request, current_request, handling
from api.http.responses import (
    CsvResponse,
    PendingResponse,
    Response,
    encoded,
    error_response,
    standard_headers,
)
from api.http.wsgi import WholeResponse
from api.idempotency import IdempotentResponse
from api.operations import Endpoint
from api.problems import invalid
from api.services import Services
from shared.db.connection import reading


def handler_of(operation: Endpoint) -> Callable[..., Any]:
    """The function that handles the current request with an operation; it takes the path's variables by keyword."""
    body_schema = operation.body() if operation.body else None
    query_schema = operation.query() if operation.query else None
    limit = LARGE_BODY if operation.large else SMALL_BODY
    function, scope, show = operation.function, operation.scope, operation.response().dump
    parameters = signature(function).parameters
    wanted = {
        *parameters,
        *(["query"] if any(each.kind == Parameter.VAR_KEYWORD for each in parameters.values()) else []),
    }
    pages = operation.pages
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
        caller = None if scope is None else operation.api.authenticate(request, scope)
        if "caller" in wanted:
            arguments["caller"] = caller
        if "by" in wanted:
            assert caller is not None
            arguments["by"] = by_caller(caller)
        if operation.session:
            arguments["signed_in"] = authenticate_person(request)
        if body_schema is not None:
            arguments["body"] = load(body_schema, read_json(request, limit))
        query = {} if query_schema is None else load(query_schema, _query_values())
        if "query" in wanted and query_schema is not None:
            arguments["query"] = query
        if pages is not None:
            arguments |= {pages.name: pages.read(query.get("cursor")), "limit": query["limit"] + 1}
        result = _connected(operation, caller, arguments) if "connection" in wanted else function(**arguments)
        if isinstance(result, IdempotentResponse):
            return idempotent_response(result)
        if isinstance(result, (PendingResponse, Response, CsvResponse)):
            return result
        if pages is not None:
            rows, end = result if isinstance(result, tuple) else (result, None)
            result = page(rows, query["limit"], pages.place_of, end=end)
        return json_response(show(result))

    return handle


def _connected(operation: Endpoint, caller: Any, arguments: dict[str, Any]) -> Any:
    """What the operation's function returns with the connection that its method needs."""

    def act(connection: Connection) -> Any:
        if operation.api is OPERATORS and "account_id" in arguments:
            need_account(connection, arguments["account_id"])
        return operation.function(connection=connection, **arguments)

    if operation.method == "GET":
        read = reading_list if operation.is_list else reading
        with read(services().engine) as connection:
            return act(connection)
    if operation.method == "POST":
        return act_once(caller, arguments.get("body"), act)
    with transaction_of(caller) as connection:
        return act(connection)


class DirectEndpoint:
    """One endpoint with its error handling and standard headers, called without Flask, on the loop or in a thread.

    The request's body has arrived whole.
    """

    def __init__(self, endpoint: Callable[[], Response | PendingResponse], services: Any) -> None:
        self._endpoint = endpoint
        self._services = services

    def request(self, environ: Environ) -> Request:
        """Create a request."""
        return Request(environ, self._services)

    def call(self, request: Request) -> Response | PendingResponse:
        """Handle a request. Raises NeedsThread if it would block the event loop."""
        with handling(request):
            try:
                return self._endpoint()
            except Exception as error:
                return error_response(error, request)

    def complete(self, request: Request, response: Response) -> WholeResponse:
        """Add the standard headers to a response, which is then ready to send."""
        headers = [*response.headers, *standard_headers(request)]
        return WholeResponse(response.status, encoded(headers), response.body)


def direct_endpoint(method: str, path: str, services: Services) -> DirectEndpoint:
    """A declared operation, callable without Flask."""
    operation = next(each for each in ENDPOINTS if (each.method, each.path) == (method, path))
    return DirectEndpoint(handler_of(operation), services)


def _query_values() -> dict[str, Any]:
    given = current_request().http.args
    for key in given:
        values = given.getlist(key)
        if len(values) > 1 or UNSTORABLE.search(values[0]):
            detail = "Use the parameter once." if len(values) > 1 else "Remove the NUL character."
            raise invalid([{"pointer": f"/{key[:40]}", "code": "invalid", "detail": detail}])
    return given.to_dict()
