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
from functools import partial
from typing import Any

from marshmallow import Schema, ValidationError

from api.auth.operator_tokens import Operator
from api.auth.person_sessions import SignedIn, read_session
from api.auth.tokens import Caller, ip_not_allowed
from api.http.client_address import address_of
from api.http.json_body import UNSTORABLE
from api.http.replica_reads import ReplicaReads
from api.http.request import Request, current_request
from api.http.responses import JsonResponse
from api.idempotency import IdempotentResponse, Key, key_of
from api.operations import Api, Function
from api.operations import Endpoint as Endpoint
from api.problems import Problem, invalid
from api.schemas.errors import errors_of
from api.schemas.fields import timestamp
from api.schemas.paging import Pages, Paging, page_of
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
    response: type[Schema] | None = None,
    pages: Pages | None = None,
    errors: Iterable[str] = (),
    scope: str | None,
    session: bool = False,
    large: bool = False,
) -> Callable[[Function], Function]:
    """Declare an operation, by default of the customers' API. `scope=""` needs a token with any scopes, `scope=None` no
    token, or with `session` that of a person's session; `large` accepts bodies of up to 8 MB instead of 64 kB.

    The function gets the variables of its path, the `body` if one is declared, and what else its parameters name:

    - `caller`, if a token is required; `by`, the same for the audit log; or `signed_in`, with a session
    - `query`, if one is declared
    - `connection`: of a GET, to read, with a bound if its response is a list; of a PATCH or DELETE, a transaction; of a
      POST, the transaction in which the function is called once per Idempotency-Key. An operator may still act in it,
      and the account of the path exists.
    - with `pages` in place of a response, `limit` and `after` or `before`: it returns the rows of a page and one more,
      or them and the last row that it has examined

    What it returns is shown by the schema of the response, if it is no response yet.
    """

    def declare(function: Function) -> Function:
        of = api or CUSTOMERS
        shown, asked = (page_of(pages.item), query or Paging) if pages else (response, query)
        assert shown is not None
        operation = Endpoint(
            of, method, path, function, body, asked, shown, pages, tuple(errors), scope, session, large
        )
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


CUSTOMERS = Api(PREFIX, authenticate)
OPERATORS = Api(OPERATOR_PREFIX, authenticate_operator)
ENDPOINTS = CUSTOMERS.operations
operator_endpoint = partial(endpoint, api=OPERATORS)
"""Declares an operation of the operator API."""
