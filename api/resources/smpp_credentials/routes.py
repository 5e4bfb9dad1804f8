"""The account's SMPP credentials: list, create, change, rotate and revoke them, and replay to them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection

from api.auth.still_valid import lock_caller
from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.operations import Function
from api.resources.api_keys.own_key import own_key
from api.resources.api_keys.routes import refuse_more
from api.resources.smpp_credentials.actions import ACTIONS, Manager
from shared.accounts.smpp_credentials import SCOPES


def _of_caller(act: Function) -> Function:
    def call(caller: Caller, **given: Any) -> Any:
        lock = partial(lock_caller, caller=caller)
        return act(Manager(caller, caller.account_id, lock, partial(_check, caller)), **given)

    call.__name__, call.__doc__ = act.__name__, act.__doc__
    return call


def _check(caller: Caller, connection: Connection, settings: Mapping[str, Any]) -> None:
    """Raise Problem insufficient_scope if a credential may do more than the caller's own key."""
    own, networks = own_key(connection, caller), settings["networks"]
    wanted = own._replace(test=settings["test"], scopes=[*SCOPES], allowed_ips=networks, expires_at=None)
    refuse_more(own, wanted._replace(requests_per_second=settings["rate"]))


for _act, _method, _tail, _contract in ACTIONS:
    _scope = "keys:read" if _method == "GET" else "keys:write"
    endpoint(_method, f"/smpp-credentials{_tail}", scope=_scope, **_contract)(_of_caller(_act))
