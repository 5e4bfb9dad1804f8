"""SMPP credentials of accounts and their sandboxes, and the open binds of all."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.act_once import need_account
from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.operations import Function
from api.operator.fields import AccountPaging
from api.operator.smpp.schemas import BODIES, OpenBindResponse
from api.resources.smpp_credentials.actions import ACTIONS, Manager
from api.schemas.paging import by_id
from shared.accounts.smpp_credentials import list_binds
from shared.db.connection import reading


@operator_endpoint("GET", "/smpp-binds", query=AccountPaging, pages=by_id(OpenBindResponse), scope="read")
def list_smpp_binds(connection: Connection, query: dict[str, Any], after: UUID, limit: int) -> Any:
    """List the open binds of an account and its sandbox, or of all accounts, oldest first."""
    return list_binds(connection, query.get("account_id"), after=after, limit=limit)


def _of_account(act: Function) -> Function:
    def call(caller: Operator, account_id: int, **given: Any) -> Any:
        with reading(services().engine) as connection:
            need_account(connection, account_id)
        by = Manager(caller, account_id, lambda connection: None, lambda connection, settings: None)
        return act(by, **given)

    call.__name__, call.__doc__ = act.__name__.replace("smpp", "account_smpp"), act.__doc__
    return call


for _act, _method, _tail, _contract in ACTIONS:
    _own = {"body": BODIES.get(_contract.get("body"), _contract.get("body"))}
    _path, _scope = f"/accounts/<int:account_id>/smpp-credentials{_tail}", "read" if _method == "GET" else "accounts"
    operator_endpoint(_method, _path, scope=_scope, **{**_contract, **_own})(_of_account(_act))
