"""Erases a phone from the responses that are stored for repeated requests."""

import json
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from shared.db.tables.sends import idempotency
from worker.jobs.erasure_search import ACCOUNT

STORED_RESPONSE = (
    select(idempotency.c.response)
    .where(idempotency.c.account_id == ACCOUNT)
    .where(idempotency.c.path == bindparam("of_path"), idempotency.c.key == bindparam("of_key"))
    .with_for_update()
)
REWRITE_RESPONSE = (
    update(idempotency)
    .where(idempotency.c.account_id == ACCOUNT)
    .where(idempotency.c.path == bindparam("of_path"), idempotency.c.key == bindparam("of_key"))
    .values(response=bindparam("response"))
)


def erase_response(connection: Connection, key: dict[str, Any], phone: str) -> None:
    """Replace the phone by null in the response stored under a key: its `account`, `of_path` and `of_key`."""
    stored = connection.execute(STORED_RESPONSE, key).scalar()
    if stored is not None:
        response = json.dumps(_without(json.loads(stored), phone), separators=(",", ":"))
        connection.execute(REWRITE_RESPONSE, {**key, "response": response})


def _without(response: Any, phone: str) -> Any:
    """A response with the phone replaced by null, its own `reference`, and suggestions of it for misspelled numbers."""
    if isinstance(response, list):
        return [_without(each, phone) for each in response]
    if not isinstance(response, dict):
        return None if response == phone else response
    if response.get("phone") == phone and "reference" in response:
        response = {**response, "reference": None}
    if response.get("suggestion") == phone:
        response = {**response, "phone": None, "suggestion": None, "detail": None}
    return {name: _without(value, phone) for name, value in response.items()}
