"""SMPP credentials of accounts and their sandboxes, and the open binds of all."""

from functools import partial
from typing import Any
from uuid import UUID

from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, uuid_cursor
from api.idempotency import IdempotentResponse
from api.operator.audited_change import need_account, operator_transaction
from api.operator.fields import AccountPaging
from api.operator.smpp.schemas import ChangeAccountSmpp, MakeAccountSmpp, OpenBindResponse
from api.resources.deliveries.schemas import RecoverBody
from api.resources.smpp_credentials.actions import CredentialActions
from api.resources.smpp_credentials.routes import CREDENTIAL, NEW
from api.resources.smpp_credentials.schemas import ReplayedSmppResponse, RevokedSmppResponse
from api.schemas.paging import Paging, page_of
from shared.accounts.smpp_credentials import list_binds
from shared.db.connection import reading
from shared.ids import FIRST_ID


@operator_endpoint("GET", "/smpp-binds", query=AccountPaging, response=page_of(OpenBindResponse), scope="read")
def list_smpp_binds(caller: Operator, query: dict[str, Any]) -> Any:
    """List the open binds of an account and its sandbox, or of all accounts, oldest first."""
    limit, after = query["limit"], uuid_cursor(query.get("cursor")) or FIRST_ID
    with reading_list(services().engine) as connection:
        rows = list_binds(connection, query.get("account_id"), after=after, limit=limit + 1)
    return page(rows, limit, lambda row: str(row["id"]))


@operator_endpoint(
    "GET", "/accounts/<int:account_id>/smpp-credentials", query=Paging, response=page_of(CREDENTIAL), scope="read"
)
def list_account_smpp_credentials(caller: Operator, account_id: int, query: dict[str, Any]) -> Any:
    """List the SMPP credentials of an account and its sandbox that are not revoked, with their open binds."""
    return _actions(caller, account_id).page(query)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/smpp-credentials", body=MakeAccountSmpp, response=NEW, scope="accounts"
)
def create_account_smpp_credential(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Create an SMPP credential for an account. Its password is shown only once; if it is lost, rotate it."""
    return _actions(caller, account_id).create(body)


@operator_endpoint(
    "PATCH",
    "/accounts/<int:account_id>/smpp-credentials/<uuid:credential_id>",
    body=ChangeAccountSmpp,
    response=CREDENTIAL,
    scope="accounts",
)
def update_account_smpp_credential(caller: Operator, account_id: int, credential_id: UUID, body: dict[str, Any]) -> Any:
    """Change settings, which hold from the next bind. Open binds keep theirs: rotate the password to end them."""
    return _actions(caller, account_id).change(credential_id, body)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/smpp-credentials/<uuid:credential_id>/rotate", response=NEW, scope="accounts"
)
def rotate_account_smpp_password(caller: Operator, account_id: int, credential_id: UUID) -> IdempotentResponse:
    """Create a new password, shown only once. The old one stops working, and open binds end within seconds."""
    return _actions(caller, account_id).rotate(credential_id)


@operator_endpoint(
    "DELETE",
    "/accounts/<int:account_id>/smpp-credentials/<uuid:credential_id>",
    response=RevokedSmppResponse,
    scope="accounts",
)
def revoke_account_smpp_credential(caller: Operator, account_id: int, credential_id: UUID) -> Any:
    """Revoke a credential. Its binds end within seconds, and what waits for it is not delivered."""
    return _actions(caller, account_id).revoke(credential_id)


@operator_endpoint(
    "POST",
    "/accounts/<int:account_id>/smpp-credentials/<uuid:credential_id>/replay",
    body=RecoverBody,
    response=ReplayedSmppResponse,
    scope="accounts",
)
def replay_account_smpp(caller: Operator, account_id: int, credential_id: UUID, body: dict[str, Any]) -> Any:
    """Deliver all receipts and messages from phones since a time again, in order, also those that were answered."""
    return _actions(caller, account_id).replay(credential_id, body)


def _actions(caller: Operator, account_id: int) -> CredentialActions:
    with reading(services().engine) as connection:
        need_account(connection, account_id)
    return CredentialActions(
        caller, account_id, partial(operator_transaction, caller), lambda connection, settings: None
    )
