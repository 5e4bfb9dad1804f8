"""`Idempotency-Key`: a repeated request takes effect once and gets the first request's response.

The key is stored in the transaction of the effect, so neither exists without the other. Only successes are stored:
after a top-up the same key may be tried again.

A key belongs to the account, so a retry with another API key has no second effect; but the stored response is only for
the API key or person that made the request, and another one is refused. Stored responses hold no secrets.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from api.auth.operator_tokens import Operator
from api.auth.tokens import Caller
from api.problems import Problem, invalid
from shared.db.connection import is_outage, reading

VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")

TRY_LOCK = text(
    """
    SELECT k.lock, pg_try_advisory_xact_lock(hashtextextended(k.lock, 0)) AS taken
      FROM unnest(CAST(:locks AS text[])) AS k (lock)
    """
)
"""Locks as many of the keys as are free in one round trip, without waiting for any."""
WAIT_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))")
"""Of two requests with the same key, the second runs after the first has committed or rolled back."""
STORED = text(
    """
    SELECT i.account_id, i.path, i.key, i.fingerprint, i.api_key_id, i.response
      FROM idempotency i
      JOIN unnest(CAST(:account AS bigint[]), CAST(:path AS text[]), CAST(:key AS text[])) AS k (account, path, key)
        ON i.account_id = k.account AND i.path = k.path AND i.key = k.key
    """
)
"""Reads all keys of a group commit in one round trip, each by the primary key."""
STORE = text(
    """
    INSERT INTO idempotency (account_id, path, key, fingerprint, api_key_id, response)
    SELECT * FROM unnest(CAST(:account AS bigint[]), CAST(:path AS text[]), CAST(:key AS text[]),
                         CAST(:fingerprint AS bytea[]), CAST(:api_key AS text[]), CAST(:response AS text[]))
    """
)
"""Part of the transaction of the effect. Stores all keys of a group commit in one round trip; a key that was stored
before violates the primary key."""


@dataclass(frozen=True, slots=True)
class Key:
    """The idempotency key of a request, with its account, path and body's fingerprint."""

    account_id: int
    path: str
    key: str
    fingerprint: bytes
    api_key_id: str
    """The API key that made the request; for a request to the operator API, the operator."""

    @property
    def lock(self) -> str:
        """The name of the advisory lock for this key."""
        return f"{self.account_id} {self.path} {self.key}"


class Stored(NamedTuple):
    """The stored first request with a key: its body's fingerprint, its API key and its response."""

    fingerprint: bytes
    api_key_id: str
    response: str


class IdempotentResponse(NamedTuple):
    """A response body, and whether it is a replay."""

    body: str
    replayed: bool = False


def key_of(caller: Caller | Operator, path: str, given: str, content: dict[str, Any] | None) -> Key:
    """The key `given` with a request of the content. `path` tells requests of different kinds apart.

    Raises Problem unless the key has 1 to 255 visible ASCII characters.
    """
    if not VISIBLE.fullmatch(given):
        detail = "Send the header once, with 1 to 255 visible ASCII characters, such as an order number or a UUID."
        raise invalid([{"pointer": "/Idempotency-Key", "code": "invalid_idempotency_key", "detail": detail}])
    key = given[1:-1] if len(given) > 2 and given[0] == given[-1] == '"' else given
    return Key(caller.account_id, path, key, fingerprint(content), caller.made_by)


def try_locks(connection: Connection, keys: list[Key]) -> set[str]:
    """Lock the keys that no other request holds, until the transaction ends. Returns their locks."""
    return {row.lock for row in connection.execute(TRY_LOCK, {"locks": [key.lock for key in keys]}) if row.taken}


def wait_for(connection: Connection, key: Key) -> None:
    """Lock the key, waiting for a request in progress with it. Raises Problem idempotency_in_progress after five
    seconds."""
    try:
        connection.execute(WAIT_LOCK, {"lock": key.lock})
    except OperationalError as error:
        if is_outage(error):
            raise
        raise Problem(
            "idempotency_in_progress",
            "The first request with this key is still in progress.",
            headers={"Retry-After": "1"},
        ) from None


def stored(connection: Connection, keys: list[Key]) -> dict[str, Stored]:
    """The stored first requests of the keys that were used before, by lock. Lock the keys first."""
    rows = connection.execute(
        STORED,
        {
            "account": [key.account_id for key in keys],
            "path": [key.path for key in keys],
            "key": [key.key for key in keys],
        },
    )
    return {
        Key(row.account_id, row.path, row.key, b"", "").lock: Stored(
            bytes(row.fingerprint), row.api_key_id, row.response
        )
        for row in rows
    }


def store(connection: Connection, responses: list[tuple[Key, str]]) -> None:
    """Store the responses under their keys."""
    connection.execute(
        STORE,
        {
            "account": [key.account_id for key, _ in responses],
            "path": [key.path for key, _ in responses],
            "key": [key.key for key, _ in responses],
            "fingerprint": [key.fingerprint for key, _ in responses],
            "api_key": [key.api_key_id for key, _ in responses],
            "response": [response for _, response in responses],
        },
    )


def replay(key: Key, first: Stored) -> IdempotentResponse:
    """The first request's response. Raises Problem idempotency_key_reused if its body or its API key was another."""
    if first.api_key_id != key.api_key_id:
        detail = "Another person or key has used this Idempotency-Key."
        raise Problem("idempotency_key_reused", detail)
    if first.fingerprint != key.fingerprint:
        raise Problem("idempotency_key_reused", "The first request with this Idempotency-Key had a different body.")
    return IdempotentResponse(first.response, replayed=True)


def replay_if_repeated(connection: Connection, key: Key | None) -> IdempotentResponse | None:
    """The first request's response, if there was one, even if the same request would be refused now because its
    `send_at` has passed, its quote has expired or its recipient has opted out. Raises Problem as `replay` does."""
    first = stored(connection, [key]).get(key.lock) if key is not None else None
    return replay(key, first) if key is not None and first is not None else None


def replay_if_refused(engine: Engine, key: Key | None) -> IdempotentResponse | None:
    """Like `replay_if_repeated`, for a request that is refused now. Does not connect without a key."""
    if key is None:
        return None
    with reading(engine) as connection:
        return replay_if_repeated(connection, key)


def once(connection: Connection, key: Key | None, act: Callable[[], str]) -> IdempotentResponse:
    """Call `act` in the connection's transaction, or replay the response of the first request with the key."""
    if key is not None:
        wait_for(connection, key)
        repeated = replay_if_repeated(connection, key)
        if repeated is not None:
            return repeated
    body = act()
    if key is not None:
        store(connection, [(key, body)])
    return IdempotentResponse(body)


def fingerprint(body: dict[str, Any] | None) -> bytes:
    """The SHA-256 of a body, in whatever order its fields are."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).digest()
