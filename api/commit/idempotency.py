"""`Idempotency-Key`: a repeated request has one effect, and gets the answer of the first.

The key is stored in the transaction that has the effect, so the two cannot come apart. Only successes are stored:
after a top-up the same key may be tried again.

It is one key for the whole account, so that a request that is tried again with another API key has no second effect;
but the first answer is for the API key that got it, and another one is refused. No answer is stored with a secret.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from api.auth.tokens import Caller
from api.http.problems import Problem, invalid
from api.http.request import current_request
from api.http.responses import JsonResponse

REPLAYED = (("Idempotency-Replayed", "true"),)
VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
UUID_IN_PATH = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

TRY_LOCK = text(
    """
    SELECT k.lock, pg_try_advisory_xact_lock(hashtextextended(k.lock, 0)) AS taken
      FROM unnest(CAST(:locks AS text[])) AS k (lock)
    """
)
WAIT_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))")
STORED = text(
    """
    SELECT i.account_id, i.path, i.key, i.fingerprint, i.api_key_id, i.answer
      FROM idempotency i
      JOIN unnest(CAST(:account AS bigint[]), CAST(:path AS text[]), CAST(:key AS text[])) AS k (account, path, key)
        ON i.account_id = k.account AND i.path = k.path AND i.key = k.key
    """
)
STORE = text(
    """
    INSERT INTO idempotency (account_id, path, key, fingerprint, api_key_id, answer)
    SELECT * FROM unnest(CAST(:account AS bigint[]), CAST(:path AS text[]), CAST(:key AS text[]),
                         CAST(:fingerprint AS bytea[]), CAST(:api_key AS text[]), CAST(:answer AS text[]))
    """
)


@dataclass(frozen=True, slots=True)
class Key:
    """A request's key, for one account and path, and what the request was."""

    account_id: int
    path: str
    key: str
    fingerprint: bytes
    api_key_id: str
    """Who made the request."""

    @property
    def lock(self) -> str:
        """What two requests with this key contend for."""
        return f"{self.account_id} {self.path} {self.key}"


class Stored(NamedTuple):
    """What is kept of the first request with a key: what it was, who made it, and its answer."""

    fingerprint: bytes
    api_key_id: str | None
    """None: before replays were for the API key that made the request."""
    answer: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and whether it is that of an earlier request."""

    body: str
    replayed: bool = False

    def response(self) -> JsonResponse:
        """The answer as JSON."""
        return JsonResponse(self.body, headers=REPLAYED if self.replayed else ())


def key_of_request(caller: Caller, body: dict[str, Any] | None) -> Key | None:
    """The request's key; None without one. Raises Problem for a key that is not 1 to 255 visible ASCII characters."""
    environ = current_request().environ
    given = environ.get("HTTP_IDEMPOTENCY_KEY")
    if given is None:
        return None
    if not VISIBLE.fullmatch(given):
        detail = "Send the header once, with 1 to 255 visible ASCII characters, such as an order number or a UUID."
        raise invalid([{"pointer": "/Idempotency-Key", "code": "invalid_idempotency_key", "detail": detail}])
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    key = given[1:-1] if len(given) > 2 and given[0] == given[-1] == '"' else given
    path = "/" + environ["PATH_INFO"].strip("/")  # however many slashes: they all find the same view
    path = UUID_IN_PATH.sub(lambda found: found[0].lower(), path)  # and so they do with an id in capitals
    return Key(caller.account_id, path, key, hashlib.sha256(canonical.encode()).digest(), caller.key_id)


def try_locks(connection: Connection, keys: list[Key]) -> set[str]:
    """Take the keys that nobody else works on, until the transaction ends. Returns their locks."""
    return {row.lock for row in connection.execute(TRY_LOCK, {"locks": [key.lock for key in keys]}) if row.taken}


def wait_for(connection: Connection, key: Key) -> None:
    """Take the key, waiting for a twin in flight. Raises Problem idempotency_in_progress after five seconds."""
    try:
        connection.execute(WAIT_LOCK, {"lock": key.lock})
    except OperationalError:
        raise Problem(
            "idempotency_in_progress",
            "The first request with this key is still in progress.",
            headers={"Retry-After": "1"},
        ) from None


def stored(connection: Connection, keys: list[Key]) -> dict[str, Stored]:
    """The first requests of the keys that were used before, by lock. The keys must be locked."""
    rows = connection.execute(
        STORED,
        {
            "account": [key.account_id for key in keys],
            "path": [key.path for key in keys],
            "key": [key.key for key in keys],
        },
    )
    return {
        Key(row.account_id, row.path, row.key, b"", "").lock: Stored(bytes(row.fingerprint), row.api_key_id, row.answer)
        for row in rows
    }


def store(connection: Connection, responses: list[tuple[Key, str]]) -> None:
    """Keep the answers under their keys."""
    connection.execute(
        STORE,
        {
            "account": [key.account_id for key, _ in responses],
            "path": [key.path for key, _ in responses],
            "key": [key.key for key, _ in responses],
            "fingerprint": [key.fingerprint for key, _ in responses],
            "api_key": [key.api_key_id for key, _ in responses],
            "answer": [answer for _, answer in responses],
        },
    )


def replay(key: Key, first: Stored) -> Answered:
    """The answer of the first request. Raises Problem idempotency_key_reused where that was another request, or
    another API key's."""
    if first.api_key_id not in (key.api_key_id, None):
        detail = "Another API key of your account has used this Idempotency-Key."
        raise Problem("idempotency_key_reused", detail)
    if first.fingerprint != key.fingerprint:
        raise Problem("idempotency_key_reused", "The first request with this Idempotency-Key had a different body.")
    return Answered(first.answer, replayed=True)


def answered_before(connection: Connection, key: Key | None) -> Answered | None:
    """The answer of the first request, if there was one: also where the same request would be refused now, as its time
    has come, its quote is over or its recipient has opted out. Raises Problem as `replay` does."""
    first = stored(connection, [key]).get(key.lock) if key is not None else None
    return replay(key, first) if key is not None and first is not None else None


def once(connection: Connection, key: Key | None, act: Callable[[], str]) -> Answered:
    """Do something in the connection's transaction, or give the answer of when it was done."""
    if key is not None:
        wait_for(connection, key)
        before = stored(connection, [key]).get(key.lock)
        if before is not None:
            return replay(key, before)
    body = act()
    if key is not None:
        store(connection, [(key, body)])
    return Answered(body)
