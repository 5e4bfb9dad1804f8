"""Sends one message through one carrier, to test it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
from sqlalchemy import Connection

from api.accept.accept import accept
from api.accept.schemas import SingleSend
from api.auth.caller import Caller
from api.commit.draft import encode
from api.endpoint import load
from api.idempotency import IdempotentResponse, Key
from api.services import Services
from shared.accounts.audit_log import Actor
from shared.carriers import control
from shared.sends.publish_batches import publish_queued

WAITS_FOR = timedelta(hours=1)
"""The message is scheduled, so that it certainly waits until it is assigned to its carrier."""
SINGLE = SingleSend()


def accept_test_message(
    services: Services,
    carrier: str,
    message: dict[str, Any],
    key: Key | None = None,
    *,
    by: Actor | None = None,
    begin: Callable[[], AbstractContextManager[Connection]] | None = None,
) -> IdempotentResponse:
    """Send `message` (phone, sender_id, message) through the carrier, paid for by the test account.

    `begin` is the context of the transaction that prepares the account, which may refuse the caller. The response has
    `carrier`, `send_id` and `message_id`. Raises Problem if it is not accepted, and Refused if no worker knows the
    carrier.
    """
    with (begin or services.engine.begin)() as connection:
        control.require(connection, carrier)
        account = control.prepare(connection, message["sender_id"], str(uuid4()), by=by)
    due = datetime.now(UTC) + WAITS_FOR
    body = load(SINGLE, {**message, "send_at": due.isoformat()})
    key = None if key is None else replace(key, account_id=account)  # the stored response has the phone
    stored_response = accept(services, _caller(account, by, due), "single", body, key)
    assert isinstance(stored_response, IdempotentResponse)  # in a thread
    sent = orjson.loads(stored_response.body)
    with services.engine.begin() as connection:
        control.start_test(connection, UUID(sent["send_id"]), carrier, by=by)
    publish_queued(services.engine, services.tasks, [UUID(sent["send_id"])])
    ids = {name: sent[name] for name in ("send_id", "message_id")}
    return IdempotentResponse(encode({"carrier": carrier, **ids}), stored_response.replayed)


def _caller(account: int, by: Actor | None, expires_at: datetime) -> Caller:
    """The test account as the sender of the message."""
    name = "bulksms carrier test" if by is None else by.name
    return Caller(account, name, False, frozenset({"sms:send"}), "", expires_at)
