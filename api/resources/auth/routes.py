"""Tokens: issue and revoke them."""

from contextlib import AbstractContextManager
from typing import Any

from api.auth.tokens import BEARER, VALID
from api.endpoint import client_address, endpoint, load, services
from api.http.json_body import parse_object, read_bytes, read_json
from api.http.request import current_request
from api.limits.credential_attempts import counted_attempt
from api.problems import Problem, invalid
from api.resources.auth.schemas import Credentials, RevokedResponse, RevokeToken, TokenResponse
from api.resources.auth.token_response import token_fields
from shared.address_block import address_block

MAX_BODY = 4_096
"""Bytes. Strangers may send these bodies, and parsing them takes time that others wait for."""
HEADERS = {"api_key": "X-API-Key", "api_secret": "X-API-Secret"}
"""The headers that can replace the fields of a body."""
CREDENTIALS = Credentials()
REVOKE_TOKEN = RevokeToken()


@endpoint(
    "POST",
    "/auth/token",
    response=TokenResponse,
    errors=(
        "invalid_json",
        "validation_failed",
        "invalid_credentials",
        "ip_not_allowed",
        "account_suspended",
        "rate_limited",
    ),
    scope=None,
)
def create_token() -> dict[str, Any]:
    """Exchange an API key and secret for a bearer token, valid for 24 hours."""
    credentials, address = read_credentials(), client_address()
    with counting_failures(address):
        token, caller = services().tokens.issue(credentials["api_key"], credentials["api_secret"], address)
    request = current_request()
    request.summary.account_id, request.summary.key_id = caller.account_id, caller.key_id
    services().rate_limits.take(request, caller)
    return token_fields(token, caller, VALID)


def counting_failures(address: str) -> AbstractContextManager[None]:
    """Exchange a key in this block: a wrong secret counts against the address, whose failures are limited."""
    detail = "Too many failed sign-ins from this address."
    return counted_attempt(services().failures, address_block(address), detail, ("invalid_credentials",))


def read_credentials() -> dict[str, Any]:
    """The credentials in the body, or in the headers if the body has none."""
    request = current_request()
    raw = read_bytes(request, MAX_BODY)
    given = request.http.headers
    headers = {name: given[header] for name, header in HEADERS.items() if header in given}
    if not raw and not headers and not request.environ.get("CONTENT_TYPE"):
        raise _nothing_given()
    body = read_json(request, MAX_BODY) if raw.strip() or not headers else {}
    if headers and not body.keys() & {"api_key", "api_secret"}:
        if len(headers) < 2:
            raise Problem("invalid_credentials", "Send X-API-Key and X-API-Secret together.", headers=BEARER)
        body = {**body, **headers}
    return load(CREDENTIALS, body)


def _nothing_given() -> Problem:
    """The 400 for a request with neither a body nor the headers."""
    return invalid(
        [
            {"pointer": f"/{name}", "code": "required", "detail": f"Send it in a JSON body, or as the header {header}."}
            for name, header in HEADERS.items()
        ]
    )


@endpoint(
    "POST",
    "/auth/revoke",
    response=RevokedResponse,
    errors=("missing_token", "invalid_token", "token_expired", "token_revoked", "invalid_json"),
    scope="",
)
def revoke_access_token(caller: Any) -> dict[str, Any]:
    """Revoke the token in use, or the one given as `token`. It stops working within five seconds."""
    raw = read_bytes(current_request(), MAX_BODY)
    body = load(REVOKE_TOKEN, parse_object(raw)) if raw.strip() else {}
    tokens = services().tokens
    if "token" in body:
        try:
            other = tokens.parse(body["token"])
        except Problem:
            return {"revoked": True}
        if other.account_id != caller.account_id:
            return {"revoked": True}
        caller = other
    tokens.revoke(caller)
    return {"revoked": True}
