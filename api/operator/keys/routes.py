"""API keys of an account and its sandbox: list, create and revoke them."""

from typing import Any

from sqlalchemy import Connection

from api.actor import by_caller
from api.auth.operator_tokens import Operator
from api.endpoint import key_of_request, operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import page, text_cursor
from api.idempotency import IdempotentResponse, once_with_secret
from api.operator.audited_change import act, need_account, operator_transaction
from api.operator.keys.schemas import NewKey
from api.problems import Problem
from api.resources.api_keys.routes import make_account_key
from api.resources.api_keys.schemas import ApiKeyResponse, NewApiKeyResponse, RevokedApiKeyResponse
from api.schemas.paging import Paging, page_of
from shared.accounts.administration import revoke_key
from shared.accounts.api_keys import find_key, list_keys
from shared.accounts.audit_log import Actor


@operator_endpoint(
    "GET", "/accounts/<int:account_id>/api-keys", query=Paging, response=page_of(ApiKeyResponse), scope="read"
)
def list_account_api_keys(caller: Operator, account_id: int, query: dict[str, Any]) -> Any:
    """List the API keys of an account and its sandbox that are not revoked, without secrets."""
    limit, after = query["limit"], text_cursor(query.get("cursor"))
    with reading_list(services().engine) as connection:
        need_account(connection, account_id)
        rows = list_keys(connection, account_id, after, limit + 1)
    return page(rows, limit, lambda row: str(row.id))


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/api-keys", body=NewKey, response=NewApiKeyResponse, scope="accounts"
)
def create_account_api_key(caller: Operator, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Create an API key for an account, or with `test` for its sandbox. Its secret is shown only once.

    A repeated request with the same `Idempotency-Key` gets the same response without the secret. If the secret is lost,
    revoke the key and create another.
    """
    idempotency_key, by = key_of_request(caller, body), by_caller(caller)

    def create(connection: Connection) -> tuple[dict[str, Any], str]:
        need_account(connection, account_id)
        return make_account_key(connection, account_id, body, by)

    with operator_transaction(caller) as connection:
        return once_with_secret(connection, idempotency_key, "api_secret", lambda: create(connection))


@operator_endpoint(
    "DELETE", "/accounts/<int:account_id>/api-keys/<key_id>", response=RevokedApiKeyResponse, scope="accounts"
)
def revoke_account_api_key(caller: Operator, account_id: int, key_id: str) -> Any:
    """Revoke an API key of an account or its sandbox. It and its tokens stop working within five seconds."""

    def revoke(connection: Connection, by: Actor) -> Any:
        need_account(connection, account_id)
        key = find_key(connection, account_id, key_id) if key_id.isprintable() else None
        if key is None or key.revoked_at is not None:
            raise Problem("not_found", "The account has no such API key.")
        revoke_key(connection, key_id, by=by)
        return {"api_key": key_id, "revoked": True}

    return act(caller, revoke)
