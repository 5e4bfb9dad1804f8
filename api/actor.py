"""The actor of a change made through an API, for the audit log."""

from api.auth.operator_tokens import Operator
from api.auth.tokens import Caller
from api.endpoint import client_address
from api.http.request import current_request
from shared.accounts.audit_log import By


def by_key(caller: Caller) -> By:
    """The caller's API key, request id and address, as the audit log records them."""
    return By(f"key {caller.key_id}", current_request().request_id, client_address())


def by_operator(operator: Operator) -> By:
    """The operator, the request's id and its address, as the audit log records them."""
    return By(operator.actor, current_request().request_id, client_address())
