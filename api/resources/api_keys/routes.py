"""The account's API keys: list, create, rotate and revoke them."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection

from api.actor import by_key
from api.auth.tokens import Caller
from api.commit.idempotency import Answered, key_of_request, once
from api.endpoint import endpoint, services
from api.http.pagination import page, text_cursor
from api.http.problems import Problem, invalid
from api.http.responses import JsonResponse
from api.resources.api_keys.schemas import (
    ApiKeyResponse,
    MakeApiKey,
    NewApiKeyResponse,
    RevokedApiKeyResponse,
    RotateApiKey,
    RotatedApiKeyResponse,
)
from api.schemas.paging import Paging, page_of
from shared.accounts.administration import create_key, revoke_key
from shared.accounts.api_keys import MAX_KEYS, ApiKey, count_keys, exceeds, find_key, list_keys, rotate_key
from shared.api_key import DEFAULT_SCOPES, SCOPES, make_key, networks
from shared.db.connection import reading


class Issued(NamedTuple):
    """The response to a request: the part that a repeated request gets too, and the secret."""

    response: dict[str, Any]
    secret: str


API_KEY, ROTATED, REVOKED = ApiKeyResponse(), RotatedApiKeyResponse(), RevokedApiKeyResponse()
INHERITED = ("test", "allowed_ips", "requests_per_second", "expires_at")


@endpoint(
    "GET", "/api-keys", query=Paging, answers=page_of(ApiKeyResponse), fails=("validation_failed",), scope="keys:read"
)
def api_keys(caller: Caller, query: dict[str, Any]) -> Any:
    """List the API keys that are not revoked, those of the sandbox too; a test key sees only these. No secrets."""
    limit = query["limit"]
    after = text_cursor(query.get("cursor"))
    with reading(services().engine) as connection:
        rows = list_keys(connection, caller.account_id, after, limit + 1)
    return page(rows, limit, API_KEY.dump, lambda row: str(row.id))


@endpoint(
    "POST", "/api-keys", takes=MakeApiKey, answers=NewApiKeyResponse, fails=("state_conflict",), scope="keys:write"
)
def make_api_key(caller: Caller, body: dict[str, Any]) -> JsonResponse:
    """Create an API key with at most the permissions of the key in use. Its secret is shown only once.

    Name its scopes: without them it gets `sms:send` and those to read, as far as the key in use has them. With `test`
    it is a key of the account's sandbox, which comes with the first one; a test key makes no other.

    A repeated request with the same `Idempotency-Key` gets the same answer without the secret. Who has lost it rotates
    the key.
    """

    def act(connection: Connection) -> Issued:
        holder = _own(connection, caller)
        wanted = _wanted(holder, body)
        _refuse_more(holder, wanted)
        made = create_key(
            connection,
            caller.account_id,
            services().settings.secret_key,
            wanted.test,
            wanted.scopes,
            wanted.expires_at,
            name=wanted.name,
            allowed_ips=wanted.allowed_ips,
            requests_per_second=wanted.requests_per_second,
            by=by_key(caller),
        )
        if count_keys(connection, made.api_key) > MAX_KEYS:
            raise Problem("state_conflict", f"An account has at most {MAX_KEYS} API keys. Revoke one first.")
        found = find_key(connection, caller.account_id, made.api_key)
        assert found is not None
        return Issued(API_KEY.dump(found), made.api_secret)

    return _once(caller, body, act)


@endpoint(
    "POST",
    "/api-keys/<key_id>/rotate",
    takes=RotateApiKey,
    answers=RotatedApiKeyResponse,
    fails=("api_key_not_found",),
    scope="keys:write",
)
def rotate_api_key(caller: Caller, key_id: str, body: dict[str, Any]) -> JsonResponse:
    """Create a new secret for a key, shown only once. The old one works until `old_secret_expires_at`.

    Tokens issued for the old secret expire with it. A repeated request with the same `Idempotency-Key` gets
    the same answer without the secret.
    """

    def act(connection: Connection) -> Issued:
        _refuse_more(_own(connection, caller), _live(connection, caller, key_id))
        secret = make_key().api_secret
        until = rotate_key(
            connection,
            caller.account_id,
            key_id,
            secret,
            services().settings.secret_key,
            body["overlap_seconds"],
            by=by_key(caller),
        )
        return Issued(ROTATED.dump({"api_key": key_id, "old_secret_expires_at": until}), secret)

    return _once(caller, body, act)


@endpoint(
    "DELETE",
    "/api-keys/<key_id>",
    answers=RevokedApiKeyResponse,
    fails=("api_key_not_found",),
    scope="keys:write",
)
def revoke_api_key(caller: Caller, key_id: str) -> Any:
    """Revoke a key. It and its tokens stop working within five seconds."""
    with services().engine.begin() as connection:
        _refuse_more(_own(connection, caller), _live(connection, caller, key_id))
        revoke_key(connection, key_id, by=by_key(caller))
    services().tokens.reload()
    return REVOKED.dump({"api_key": key_id, "revoked": True})


def _once(caller: Caller, body: dict[str, Any], act: Callable[[Connection], Issued]) -> JsonResponse:
    """Act once per Idempotency-Key. The secret is in the first response only, and never stored."""
    key = key_of_request(caller, body)
    shown: dict[str, str] = {}
    with services().engine.begin() as connection:

        def kept() -> str:
            issued = act(connection)
            shown["api_secret"] = issued.secret
            return json.dumps(issued.response)

        answered = once(connection, key, kept)
    services().tokens.reload()
    answer = json.loads(answered.body) | shown
    return Answered(json.dumps(answer, separators=(",", ":")), answered.replayed).response()


def _own(connection: Connection, caller: Caller) -> ApiKey:
    found = find_key(connection, caller.account_id, caller.key_id)
    assert found is not None
    return found


def _live(connection: Connection, caller: Caller, key_id: str) -> ApiKey:
    found = find_key(connection, caller.account_id, key_id) if key_id.isprintable() else None
    if found is None or found.revoked_at is not None:
        raise Problem("api_key_not_found", "Your account has no such API key.")
    return found


def _wanted(holder: ApiKey, body: dict[str, Any]) -> ApiKey:
    """The requested key; omitted properties, except scopes, are copied from the holder's key."""
    wanted = {name: body.get(name, getattr(holder, name)) for name in INHERITED}
    scopes = body.get("scopes") or set(DEFAULT_SCOPES) & set(holder.scopes)
    wanted["scopes"] = [scope for scope in SCOPES if scope in scopes]
    if not wanted["scopes"]:
        detail = "Name the scopes of the new key: your key has none of the default scopes."
        raise invalid([{"pointer": "/scopes", "code": "required", "detail": detail}])
    wanted["allowed_ips"] = [str(network) for network in networks(wanted["allowed_ips"])] or None
    return holder._replace(**wanted, name=body.get("name"))


def _refuse_more(holder: ApiKey, other: ApiKey) -> None:
    more = exceeds(holder, other)
    if more in SCOPES:
        raise Problem("insufficient_scope", f"Your own key does not have the scope {more}.", scope=more)
    if more is not None:
        raise Problem("insufficient_scope", f"Your own key is more restricted than the new one, by its `{more}`.")
