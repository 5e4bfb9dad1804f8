"""What is done with the SMPP credentials of an account: declared once, and offered to customers and operators."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from api.act_once import act_once, act_once_with_secret, transaction_of
from api.actor import by_caller
from api.auth.operator_tokens import Operator
from api.auth.tokens import Caller
from api.endpoint import services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, text_cursor
from api.idempotency import IdempotentResponse
from api.operations import Function
from api.resources.deliveries.schemas import RecoverBody
from api.resources.smpp_credentials import schemas
from api.schemas.paging import Paging, page_of
from shared.accounts import smpp_credentials as credentials
from shared.accounts.smpp_credentials import find_own, list_credentials
from shared.db.connection import reading
from shared.events.replays import first_xid, replay_to_credential

REFUSED = ("state_conflict",)
CREDENTIAL, NEW = schemas.SmppCredentialResponse, schemas.NewSmppCredentialResponse
ACTIONS: list[tuple[Function, str, str, dict[str, Any]]] = []
"""Each with its method, what its path has after that of the credentials, and the rest of its contract."""


class Manager(NamedTuple):
    """Who manages the credentials of an account and its sandbox."""

    caller: Caller | Operator
    account_id: int
    lock: Callable[[Connection], None]
    """Ensures in a transaction of the caller that they may still act."""
    check: Callable[[Connection, Mapping[str, Any]], None]
    """Raises Problem if the caller may not give a credential these settings."""

    def own(self, connection: Connection, credential_id: UUID) -> dict[str, Any]:
        """A credential that is locked, as the caller is. Raises Missing and Problem."""
        self.lock(connection)
        own = find_own(connection, credential_id, self.account_id)
        self.check(connection, own)
        return own

    def once(
        self, body: dict[str, Any] | None, act: Callable[[Connection], tuple[dict[str, Any], str]]
    ) -> IdempotentResponse:
        """Act once. Only the first response contains the password, which is never stored."""

        def act_and_name_server(connection: Connection) -> tuple[dict[str, Any], str]:
            credential, password = act(connection)
            return {**credential, "server": services().settings.smpp_server}, password

        return act_once_with_secret(self.caller, body, "password", act_and_name_server)


def action(method: str, tail: str = "", **contract: Any) -> Callable[[Function], Function]:
    """Declares an action. Its docstring is for both APIs, and so is its name, but for an `account`."""

    def declare(function: Function) -> Function:
        ACTIONS.append((function, method, tail, contract))
        return function

    return declare


@action("GET", query=Paging, response=page_of(CREDENTIAL))
def list_smpp_credentials(by: Manager, query: dict[str, Any]) -> Any:
    """List the SMPP credentials of an account and its sandbox that are not revoked, with their open binds."""
    limit, after = query["limit"], text_cursor(query.get("cursor"))
    with reading_list(services().engine) as connection:
        rows = list_credentials(connection, by.account_id, after=after, limit=limit + 1)
    return page(rows, limit, lambda row: str(row["system_id"]))


@action("POST", body=schemas.MakeSmppCredential, response=NEW, errors=REFUSED)
def create_smpp_credential(by: Manager, body: dict[str, Any]) -> IdempotentResponse:
    """Create an SMPP credential. Its password is shown only once; if it is lost, rotate it."""
    body = {"test": isinstance(by.caller, Caller) and by.caller.test, **body}

    def act(connection: Connection) -> tuple[dict[str, Any], str]:
        by.lock(connection)
        by.check(connection, {"rate": None, **body})
        pepper, actor = services().settings.secret_key, by_caller(by.caller)
        made = credentials.create_credential(connection, by.account_id, pepper=pepper, by=actor, **body)
        return find_own(connection, made.system_id), made.password

    return by.once(body, act)


@action("PATCH", "/<uuid:credential_id>", body=schemas.ChangeSmppCredential, response=CREDENTIAL, errors=REFUSED)
def update_smpp_credential(by: Manager, credential_id: UUID, body: dict[str, Any]) -> Any:
    """Change settings, which hold from the next bind. Open binds keep theirs: rotate the password to end them."""
    with transaction_of(by.caller) as connection:
        own = by.own(connection, credential_id)
        by.check(connection, {**own, **body})
        credentials.change_credential(connection, own, body, by=by_caller(by.caller))
        return find_own(connection, credential_id)


@action("POST", "/<uuid:credential_id>/rotate", response=NEW)
def rotate_smpp_password(by: Manager, credential_id: UUID) -> IdempotentResponse:
    """Create a new password, shown only once. The old one stops working, and open binds end within seconds."""

    def act(connection: Connection) -> tuple[dict[str, Any], str]:
        own, pepper = by.own(connection, credential_id), services().settings.secret_key
        return own, credentials.rotate_password(connection, own, pepper, by=by_caller(by.caller)).password

    return by.once(None, act)


@action("DELETE", "/<uuid:credential_id>", response=schemas.RevokedSmppResponse)
def revoke_smpp_credential(by: Manager, credential_id: UUID) -> Any:
    """Revoke a credential. Its binds end within seconds, and what waits for it is not delivered."""
    with transaction_of(by.caller) as connection:
        own = by.own(connection, credential_id)
        credentials.revoke_credential(connection, own, by=by_caller(by.caller))
    return own | {"revoked": True}


@action("POST", "/<uuid:credential_id>/replay", body=RecoverBody, response=schemas.ReplayedSmppResponse)
def replay_smpp(by: Manager, credential_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Deliver all receipts and messages from phones since a time again, in order, also those that were answered."""
    with reading(services().engine) as connection:
        owner = find_own(connection, credential_id, by.account_id, lock=False)["account_id"]
        xid = first_xid(connection, owner, body["since"])

    def act(connection: Connection) -> dict[str, Any]:
        own = by.own(connection, credential_id)
        replay_to_credential(connection, own, body["since"], xid, by=by_caller(by.caller))
        return own | body

    return act_once(by.caller, body, act)
