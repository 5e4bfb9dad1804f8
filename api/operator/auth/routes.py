"""Tokens of operators: exchange an operator key for one."""

from datetime import UTC, datetime
from typing import Any

from api.endpoint import client_address, operator_endpoint, services
from api.http.request import current_request
from api.operator.auth.schemas import OperatorTokenResponse
from api.resources.auth.routes import counting_failures, read_credentials
from api.resources.auth.token_response import token_fields


@operator_endpoint(
    "POST",
    "/auth/token",
    response=OperatorTokenResponse,
    errors=("invalid_json", "validation_failed", "invalid_credentials", "ip_not_allowed", "rate_limited"),
    scope=None,
)
def create_operator_token() -> dict[str, Any]:
    """Exchange an operator key and its secret for a bearer token, valid for an hour.

    The token works on the operator API only, and a token of the customers' API does not work here.
    """
    credentials, address = read_credentials(), client_address()
    with counting_failures(address):
        token, operator = services().operator_tokens.exchange(
            credentials["api_key"], credentials["api_secret"], address
        )
    services().rate_limits.take_of_operator(current_request(), operator)
    valid_for = max(1, round((operator.expires_at - datetime.now(UTC)).total_seconds()))
    return token_fields(token, operator, valid_for)
