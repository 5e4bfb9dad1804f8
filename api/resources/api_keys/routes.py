"""The account's API keys: list, create, rotate and revoke them."""

from typing import Any

from sqlalchemy import Connection

from api.act_once import act_once_with_secret
from api.actor import by_caller
from api.auth.still_valid import lock_caller
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.idempotency import IdempotentResponse
from api.problems import Problem, invalid
from api.resources.api_keys.own_key import own_key
from api.resources.api_keys.schemas import (
    ApiKeyResponse,
    MakeApiKey,
    NewApiKeyResponse,
    RevokedApiKeyResponse,
    RotateApiKey,
    RotatedApiKeyResponse,
)
from api.schemas.paging import by_text
from shared.accounts.administration import create_key, revoke_key
from shared.accounts.api_keys import (
    MAX_CREATED_PER_DAY,
    MAX_KEYS,
    ApiKey,
    count_created_keys,
    count_keys,
    exceeds,
    find_key,
    list_keys,
    rotate_key,
)
from shared.accounts.audit_log import Actor
from shared.api_key import make_key, networks
from shared.scopes import DEFAULT_SCOPES, SCOPES

INHERITED = ("test", "allowed_ips", "requests_per_second", "expires_at")


@endpoint("GET", "/api-keys", pages=by_text(ApiKeyResponse), scope="keys:read")
def list_api_keys(caller: Caller, connection: Connection, after: str, limit: int) -> Any:
    """List the API keys that are not revoked, without secrets. A test key sees only the sandbox's keys."""
    return list_keys(connection, caller.account_id, after, limit)


@endpoint(
    "POST", "/api-keys", body=MakeApiKey, response=NewApiKeyResponse, errors=("state_conflict",), scope="keys:write"
)
def create_api_key(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Create an API key with at most the permissions of the key in use. Its secret is shown only once.

    Without `scopes` it gets `sms:send` and the `:read` scopes, as far as the key in use has them. With `test` it is a
    key for the account's sandbox, which is created with its first key. A test key can create only test keys.

    A repeated request with the same `Idempotency-Key` gets the same response without the secret. If you have lost the
    secret, rotate the key.
    """

    def act(connection: Connection) -> tuple[ApiKey, str]:
        lock_caller(connection, caller)
        own = own_key(connection, caller)
        requested = _requested(own, body)
        refuse_more(own, requested)
        properties = {name: getattr(requested, name) for name in ("name", "scopes", *INHERITED)}
        made, secret = make_account_key(connection, caller.account_id, properties, by_caller(caller))
        _check_creations(connection, made.id)
        return made, secret

    return act_once_with_secret(caller, body, "api_secret", act)


@endpoint(
    "POST",
    "/api-keys/<key_id>/rotate",
    body=RotateApiKey,
    response=RotatedApiKeyResponse,
    errors=("state_conflict",),
    scope="keys:write",
)
def rotate_api_key_secret(caller: Caller, key_id: str, body: dict[str, Any]) -> IdempotentResponse:
    """Create a new secret for a key, shown only once. The previous one works until `old_secret_expires_at`.

    Until then, only `overlap_seconds` 0 creates another one, which ends both. Tokens issued for a secret expire with
    it. A repeated request with the same `Idempotency-Key` gets the same response without the secret.
    """

    def act(connection: Connection) -> tuple[dict[str, Any], str]:
        other = _live(connection, caller, key_id)
        lock_caller(connection, caller, [key_id])
        refuse_more(own_key(connection, caller), other)
        secret = make_key().api_secret
        until = rotate_key(
            connection,
            caller.account_id,
            key_id,
            secret,
            services().settings.secret_key,
            body["overlap_seconds"],
            by=by_caller(caller),
        )
        return {"api_key": key_id, "old_secret_expires_at": until}, secret

    response = act_once_with_secret(caller, body, "api_secret", act)
    services().tokens.reload()
    return response


@endpoint("DELETE", "/api-keys/<key_id>", response=RevokedApiKeyResponse, scope="keys:write")
def revoke_api_key(caller: Caller, key_id: str) -> Any:
    """Revoke a key. It and its tokens stop working within five seconds."""
    with services().engine.begin() as connection:
        other = _live(connection, caller, key_id)
        lock_caller(connection, caller, [key_id])
        refuse_more(own_key(connection, caller), other)
        revoke_key(connection, key_id, by=by_caller(caller))
    services().tokens.reload()
    return {"api_key": key_id, "revoked": True}


def make_account_key(
    connection: Connection, account_id: int, properties: dict[str, Any], by: Actor
) -> tuple[ApiKey, str]:
    """Create a key. Returns it and its secret. Raises Problem for too many."""
    key = create_key(connection, account_id, services().settings.secret_key, **properties, by=by)
    if count_keys(connection, key.api_key) > MAX_KEYS:
        raise Problem("state_conflict", f"An account has at most {MAX_KEYS} API keys. Revoke one first.")
    made = find_key(connection, account_id, key.api_key)
    assert made is not None
    return made, key.api_secret


def _check_creations(connection: Connection, key_id: str) -> None:
    """Raise Problem rate_limited if this key is one too many for its account in a day."""
    if count_created_keys(connection, key_id) > MAX_CREATED_PER_DAY:
        detail = f"{MAX_CREATED_PER_DAY} API keys were created in a day. Rotate a key instead of replacing it."
        raise Problem("rate_limited", detail, headers={"Retry-After": "3600"})


def _live(connection: Connection, caller: Caller, key_id: str) -> ApiKey:
    key = find_key(connection, caller.account_id, key_id) if key_id.isprintable() else None
    if key is None or key.revoked_at is not None:
        raise Problem("api_key_not_found", "Your account has no such API key.")
    return key


def _requested(own: ApiKey, body: dict[str, Any]) -> ApiKey:
    """The requested key; omitted properties, except scopes, are copied from the caller's own key."""
    properties = {name: body.get(name, getattr(own, name)) for name in INHERITED}
    scopes = body.get("scopes") or set(DEFAULT_SCOPES) & set(own.scopes)
    properties["scopes"] = [scope for scope in SCOPES if scope in scopes]
    if not properties["scopes"]:
        detail = "Name the scopes of the new key: your key has none of the default scopes."
        raise invalid([{"pointer": "/scopes", "code": "required", "detail": detail}])
    properties["allowed_ips"] = [str(network) for network in networks(properties["allowed_ips"])] or None
    return own._replace(**properties, name=body.get("name"))


def refuse_more(own: ApiKey, other: ApiKey) -> None:
    """Raise Problem insufficient_scope if the other key has more permissions than the caller's own key."""
    excess = exceeds(own, other)
    if excess in SCOPES:
        raise Problem("insufficient_scope", f"Your own key does not have the scope {excess}.", scope=excess)
    if excess is not None:
        raise Problem("insufficient_scope", f"Your own key is more restricted than that key: see its `{excess}`.")
