"""The account's SMPP credentials: list, create, change, rotate and revoke them, and replay to them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.auth.still_valid import lock_caller
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.idempotency import IdempotentResponse
from api.resources.api_keys.own_key import own_key
from api.resources.api_keys.routes import refuse_more
from api.resources.deliveries.schemas import RecoverBody
from api.resources.smpp_credentials import schemas
from api.resources.smpp_credentials.actions import CredentialActions
from api.schemas.paging import Paging, page_of
from shared.accounts.smpp_credentials import SCOPES

REFUSED = ("state_conflict",)
CREDENTIAL, NEW = schemas.SmppCredentialResponse, schemas.NewSmppCredentialResponse


@endpoint("GET", "/smpp-credentials", query=Paging, response=page_of(CREDENTIAL), scope="keys:read")
def list_smpp_credentials(caller: Caller, query: dict[str, Any]) -> Any:
    """List the SMPP credentials that are not revoked, with their open binds. A test key sees only the sandbox's."""
    return _actions(caller).page(query)


@endpoint(
    "POST", "/smpp-credentials", body=schemas.MakeSmppCredential, response=NEW, errors=REFUSED, scope="keys:write"
)
def create_smpp_credential(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Create an SMPP credential. Its password is shown only once; if you have lost it, rotate it.

    It may send and read messages, so the key in use must have `sms:send` and `sms:read` and no tighter restrictions.
    """
    return _actions(caller).create({"test": caller.test, **body})


@endpoint(
    "PATCH",
    "/smpp-credentials/<uuid:credential_id>",
    body=schemas.ChangeSmppCredential,
    response=CREDENTIAL,
    errors=REFUSED,
    scope="keys:write",
)
def update_smpp_credential(caller: Caller, credential_id: UUID, body: dict[str, Any]) -> Any:
    """Change settings, which hold from the next bind. Open binds keep theirs: rotate the password to end them."""
    return _actions(caller).change(credential_id, body)


@endpoint("POST", "/smpp-credentials/<uuid:credential_id>/rotate", response=NEW, scope="keys:write")
def rotate_smpp_password(caller: Caller, credential_id: UUID) -> IdempotentResponse:
    """Create a new password, shown only once. The old one stops working, and open binds end within seconds."""
    return _actions(caller).rotate(credential_id)


@endpoint("DELETE", "/smpp-credentials/<uuid:credential_id>", response=schemas.RevokedSmppResponse, scope="keys:write")
def revoke_smpp_credential(caller: Caller, credential_id: UUID) -> Any:
    """Revoke a credential. Its binds end within seconds, and what waits for it is not delivered."""
    return _actions(caller).revoke(credential_id)


@endpoint(
    "POST",
    "/smpp-credentials/<uuid:credential_id>/replay",
    body=RecoverBody,
    response=schemas.ReplayedSmppResponse,
    scope="keys:write",
)
def replay_smpp(caller: Caller, credential_id: UUID, body: dict[str, Any]) -> IdempotentResponse:
    """Deliver all receipts and messages from phones since a time again, in order, also those that were answered."""
    return _actions(caller).replay(credential_id, body)


def _actions(caller: Caller) -> CredentialActions:
    return CredentialActions(caller, caller.account_id, partial(_transaction, caller), partial(_refuse_more, caller))


@contextmanager
def _transaction(caller: Caller) -> Iterator[Connection]:
    with services().engine.begin() as connection:
        lock_caller(connection, caller)
        yield connection


def _refuse_more(caller: Caller, connection: Connection, settings: Mapping[str, Any]) -> None:
    """Raise Problem insufficient_scope if a credential may do more than the caller's own key."""
    own, networks = own_key(connection, caller), settings["networks"]
    wanted = own._replace(test=settings["test"], scopes=[*SCOPES], allowed_ips=networks, expires_at=None)
    refuse_more(own, wanted._replace(requests_per_second=settings["rate"]))
