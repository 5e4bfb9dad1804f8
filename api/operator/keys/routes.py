"""API keys of an account and its sandbox: list, create and revoke them."""

from typing import Any

from sqlalchemy import Connection

from api.act_once import act_once_with_secret, need_account
from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint
from api.idempotency import IdempotentResponse
from api.operator.keys.schemas import NewKey
from api.problems import Problem
from api.resources.api_keys.routes import make_account_key
from api.resources.api_keys.schemas import ApiKeyResponse, NewApiKeyResponse, RevokedApiKeyResponse
from api.schemas.paging import by_text
from shared.accounts.administration import revoke_key
from shared.accounts.api_keys import ApiKey, find_key, list_keys
from shared.accounts.audit_log import Actor


@operator_endpoint(
    "GET",
    "/accounts/<int:account_id>/api-keys",
    pages=by_text(ApiKeyResponse),
    scope="read",
)
def list_account_api_keys(connection: Connection, account_id: int, after: str, limit: int) -> Any:
    """List the API keys of an account and its sandbox that are not revoked, without secrets."""
    return list_keys(connection, account_id, after, limit)


@operator_endpoint(
    "POST", "/accounts/<int:account_id>/api-keys", body=NewKey, response=NewApiKeyResponse, scope="accounts"
)
def create_account_api_key(caller: Operator, by: Actor, account_id: int, body: dict[str, Any]) -> IdempotentResponse:
    """Create an API key for an account, or with `test` for its sandbox. Its secret is shown only once.

    A repeated request with the same `Idempotency-Key` gets the same response without the secret. If the secret is lost,
    revoke the key and create another.
    """

    def create(connection: Connection) -> tuple[ApiKey, str]:
        need_account(connection, account_id)
        return make_account_key(connection, account_id, body, by)

    return act_once_with_secret(caller, body, "api_secret", create)


@operator_endpoint(
    "DELETE", "/accounts/<int:account_id>/api-keys/<key_id>", response=RevokedApiKeyResponse, scope="accounts"
)
def revoke_account_api_key(connection: Connection, by: Actor, account_id: int, key_id: str) -> Any:
    """Revoke an API key of an account or its sandbox. It and its tokens stop working within five seconds."""
    key = find_key(connection, account_id, key_id) if key_id.isprintable() else None
    if key is None or key.revoked_at is not None:
        raise Problem("not_found", "The account has no such API key.")
    revoke_key(connection, key_id, by=by)
    return {"api_key": key_id, "revoked": True}
