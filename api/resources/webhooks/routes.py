"""Webhooks: the URLs to which an account's events are posted."""

import json
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row

from api.accept.callbacks import check_url
from api.actor import by_caller
from api.auth.tokens import Caller
from api.commit.draft import encode
from api.endpoint import endpoint, key_of_request, services
from api.http.request import current_request
from api.idempotency import IdempotentResponse, once
from api.problems import Problem
from api.resources.webhooks import queries
from api.resources.webhooks.schemas import (
    DeletedWebhookResponse,
    SecretResponse,
    WebhookBody,
    WebhookChange,
    WebhookResponse,
)
from api.schemas.paging import by_id
from shared.accounts.audit_log import record
from shared.api_key import secret_key_id
from shared.db.one_at_a_time import one_at_a_time
from shared.events import webhook_states as states
from shared.events import webhooks as hooks
from shared.ids import new_id
from shared.outbox import listen

MAX_WEBHOOKS = 20
"""Webhooks per account."""
MAX_SECRETS = 5
"""Secrets that sign a post at the same time."""


@endpoint("GET", "/webhooks", pages=by_id(WebhookResponse), scope="webhooks:read")
def list_webhooks(caller: Caller, connection: Connection, after: UUID, limit: int) -> Any:
    """List the account's webhooks."""
    parameters = {"account": caller.account_id, "after": after, "limit": limit}
    return connection.execute(queries.WEBHOOKS, parameters).all()


@endpoint(
    "POST", "/webhooks", body=WebhookBody, response=SecretResponse, errors=("webhook_limit",), scope="webhooks:write"
)
def create_webhook(caller: Caller, body: dict[str, Any]) -> IdempotentResponse:
    """Create a webhook, signed according to Standard Webhooks 1.0. Only this response contains its secret.

    No event after this response is missed. Without `url`, the webhook posts to the `callback_url` of each send; an
    account can have only one such webhook.
    """
    if body.get("url") is not None:
        check_url(services(), body["url"], "/url")
    key = key_of_request(caller, body)
    listen(services().engine, caller.account_id)
    with services().engine.begin() as connection:

        def act() -> str:
            _check_limit(connection, caller, body)
            webhook_id = new_id()
            at = hooks.current_position(connection)
            values = {name: body.get(name) for name in ("url", "events", "description")}
            connection.execute(
                queries.INSERT,
                {
                    "id": webhook_id,
                    "account_id": caller.account_id,
                    "xid": at.xid,
                    "event_id": at.id,
                    "secret_key_id": _key_id(),
                    **values,
                },
            )
            _log(connection, caller, "created", webhook_id, None, values)
            return encode(current_request().show(find_webhook(connection, caller, webhook_id)))

        return _with_secret(connection, once(connection, key, act))


@endpoint("GET", "/webhooks/<uuid:webhook_id>", response=WebhookResponse, scope="webhooks:read")
def get_webhook(caller: Caller, connection: Connection, webhook_id: UUID) -> Any:
    """Show one webhook."""
    return find_webhook(connection, caller, webhook_id)


@endpoint(
    "PATCH",
    "/webhooks/<uuid:webhook_id>",
    body=WebhookChange,
    response=WebhookResponse,
    errors=("state_conflict",),
    scope="webhooks:write",
)
def update_webhook(caller: Caller, webhook_id: UUID, body: dict[str, Any]) -> Any:
    """Change, disable or enable a webhook.

    Events that happened while it was disabled are posted only after POST …/recover.
    """
    if body.get("url") is not None:
        check_url(services(), body["url"], "/url")
    with services().engine.begin() as connection:
        before = find_webhook(connection, caller, webhook_id, lock=True)
        if "url" in body and before.url is None:
            raise Problem("state_conflict", "This webhook posts to each send's `callback_url` and has no `url`.")
        state = body.get("status", before.state)
        at = hooks.current_position(connection)
        values = {name: body.get(name, getattr(before, name)) for name in ("url", "events", "description")}
        reason = None if state == "active" else before.disabled_reason or "Disabled by request."
        begins = {"xid": at.xid, "event_id": at.id} if state == "active" and before.state != "active" else {}
        change = values | {"state": state, "disabled_reason": reason} | begins
        if before.failing_since is None and all(getattr(before, name) == value for name, value in change.items()):
            return before
        states.change_webhook(connection, webhook_id, change)
        old_values = {name: getattr(before, name) for name in values} | {"status": before.state}
        _log(connection, caller, "changed", webhook_id, old_values, values | {"status": state})
        return find_webhook(connection, caller, webhook_id)


@endpoint("DELETE", "/webhooks/<uuid:webhook_id>", response=DeletedWebhookResponse, scope="webhooks:write")
def delete_webhook(caller: Caller, connection: Connection, webhook_id: UUID) -> Any:
    """Delete a webhook and the log of its deliveries. Posts in progress may still arrive."""
    before = find_webhook(connection, caller, webhook_id, lock=True)
    states.delete_webhook(connection, webhook_id)
    _log(connection, caller, "deleted", webhook_id, {"url": before.url}, None)
    return {"webhook_id": webhook_id, "deleted": True}


@endpoint(
    "POST",
    "/webhooks/<uuid:webhook_id>/rotate-secret",
    response=SecretResponse,
    errors=("state_conflict",),
    scope="webhooks:write",
)
def rotate_webhook_secret(caller: Caller, webhook_id: UUID) -> IdempotentResponse:
    """Create a new secret. For 24 hours posts are also signed with the previous one, so that receivers can switch.

    Rotating again within these 24 hours keeps every secret valid: posts are signed with up to five secrets.
    """
    key = key_of_request(caller, None)
    with services().engine.begin() as connection:

        def act() -> str:
            before = find_webhook(connection, caller, webhook_id, lock=True)
            if before.secrets >= MAX_SECRETS:
                detail = f"Posts are already signed with {MAX_SECRETS} secrets. Wait until `previous_secret_until`."
                raise Problem("state_conflict", detail)
            connection.execute(queries.ROTATE, {"webhook": webhook_id, "key": _key_id()})
            after = find_webhook(connection, caller, webhook_id)
            versions = ({"secret_version": row.secret_version} for row in (before, after))
            _log(connection, caller, "rotated", webhook_id, *versions)
            return encode(current_request().show(after))

        return _with_secret(connection, once(connection, key, act))


def find_webhook(
    connection: Connection, caller: Caller, webhook_id: UUID, *, lock: bool = False
) -> Row[*tuple[Any, ...]]:
    """One of the account's webhooks. Raises Problem webhook_not_found, also for another account's webhook."""
    parameters = {"id": webhook_id, "account": caller.account_id}
    if lock:
        connection.execute(queries.LOCK, parameters)
    row = connection.execute(queries.WEBHOOK, parameters).one_or_none()
    if row is None:
        raise Problem("webhook_not_found", f"Your account has no webhook {webhook_id}.")
    return row


def _check_limit(connection: Connection, caller: Caller, body: dict[str, Any]) -> None:
    one_at_a_time(connection, "webhooks", caller.account_id)
    counts = connection.execute(queries.COUNT, {"account": caller.account_id}).one()
    if body.get("url") is None and counts.callbacks:
        raise Problem("webhook_limit", "Your account already has a webhook that posts to each send's `callback_url`.")
    if counts.all >= MAX_WEBHOOKS:
        raise Problem("webhook_limit", f"Your account has {MAX_WEBHOOKS} webhooks, which is the maximum.")


def _with_secret(connection: Connection, stored_response: IdempotentResponse) -> IdempotentResponse:
    """The response with the secret, which is derived rather than stored, so a replay contains it too."""
    response = json.loads(stored_response.body)
    settings = services().settings
    key_id = connection.execute(queries.SECRET_KEY_ID, {"id": response["webhook_id"]}).scalar()
    key = hooks.key_of(settings.secret_key, settings.secret_key_fallbacks, key_id)
    response["secret"] = hooks.format_secret(
        hooks.secret(key, UUID(response["webhook_id"]), response["secret_version"])
    )
    return IdempotentResponse(encode(response), stored_response.replayed)


def _key_id() -> bytes:
    return secret_key_id(services().settings.secret_key)


def _log(connection: Connection, caller: Caller, change: str, webhook: UUID, before: Any, after: Any) -> None:
    by, account = by_caller(caller), caller.account_id
    record(connection, by, f"webhook.{change}", account_id=account, subject=webhook, before=before, after=after)
