"""Who makes a change by the API, for the log of changes."""

from api.auth.tokens import Caller
from api.endpoint import client_address
from api.http.request import current_request
from shared.accounts.audit_log import By


def by_key(caller: Caller) -> By:
    """The caller's key, the request and its address, as the log of changes takes them."""
    return By(f"key {caller.key_id}", current_request().request_id, client_address())
