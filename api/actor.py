"""Who makes a change by the API, for the log of changes."""

from flask import request

from api.auth.tokens import Caller
from api.endpoint import client_address
from api.http.headers import REQUEST_ID
from shared.accounts.audit_log import By


def by_key(caller: Caller) -> By:
    """The caller's key, the request and its address, as the log of changes takes them."""
    return By(f"key {caller.key_id}", request.environ.get(REQUEST_ID), client_address())
