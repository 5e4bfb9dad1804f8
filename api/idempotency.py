"""`Idempotency-Key`: a repeated request has one effect, and gets the answer of the first.

The key is stored in the transaction that has the effect, so the two cannot come apart. Only successes are stored:
after a top-up the same key may be tried again.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from api.asked import environ_asked
from api.lean import Json
from api.problems import Problem, invalid

REPLAYED = (("Idempotency-Replayed", "true"),)
VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")

TRY_LOCK = text(
    """
    SELECT k.lock, pg_try_advisory_xact_lock(hashtextextended(k.lock, 0)) AS taken
      FROM unnest(CAST(:locks AS text[])) AS k (lock)
    """
)
WAIT_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))")
STORED = text(
    """
    SELECT i.account_id, i.path, i.key, i.fingerprint, i.answer
      FROM idempotency i
      JOIN unnest(CAST(:account AS bigint[]), CAST(:path AS text[]), CAST(:key AS text[])) AS k (account, path, key)
        ON i.account_id = k.account AND i.path = k.path AND i.key = k.key
    """
)
STORE = text(
    """
    INSERT INTO idempotency (account_id, path, key, fingerprint, answer)
    SELECT * FROM unnest(CAST(:account AS bigint[]), CAST(:path AS text[]), CAST(:key AS text[]),
                         CAST(:fingerprint AS bytea[]), CAST(:answer AS text[]))
    """
)


@dataclass(frozen=True, slots=True)
class Key:
    """A request's key, for one account and path, and what the request was."""

    account_id: int
    path: str
    key: str
    fingerprint: bytes

    @property
    def lock(self) -> str:
        """What two requests with this key contend for."""
        return f"{self.account_id} {self.path} {self.key}"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and whether it is that of an earlier request."""

    body: str
    replayed: bool = False

    def response(self) -> Json:
        """The answer as JSON."""
        return Json(self.body, headers=REPLAYED if self.replayed else ())


def key_of_request(account_id: int, body: dict[str, Any] | None) -> Key | None:
    """The request's key; None without one. Raises Problem for a key that is not 1 to 255 visible ASCII characters."""
    environ = environ_asked()
    given = environ.get("HTTP_IDEMPOTENCY_KEY")
    if given is None:
        return None
    if not VISIBLE.fullmatch(given):
        detail = "Give the header once, with 1 to 255 visible ASCII characters: a number of your order, or a UUID."
        raise invalid([{"pointer": "/Idempotency-Key", "code": "invalid_idempotency_key", "detail": detail}])
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str)
    key = given[1:-1] if len(given) > 2 and given[0] == given[-1] == '"' else given
    path = "/" + environ["PATH_INFO"].strip("/")  # however many slashes: they all find the same view
    return Key(account_id, path, key, hashlib.sha256(canonical.encode()).digest())


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
            "The first request with this key has no answer yet.",
            headers={"Retry-After": "1"},
        ) from None


def stored(connection: Connection, keys: list[Key]) -> dict[str, tuple[bytes, str]]:
    """Fingerprint and answer of the keys that were used before, by lock. The keys must be locked."""
    rows = connection.execute(
        STORED,
        {
            "account": [key.account_id for key in keys],
            "path": [key.path for key in keys],
            "key": [key.key for key in keys],
        },
    )
    return {Key(row.account_id, row.path, row.key, b"").lock: (bytes(row.fingerprint), row.answer) for row in rows}


def store(connection: Connection, answers: list[tuple[Key, str]]) -> None:
    """Keep the answers under their keys."""
    connection.execute(
        STORE,
        {
            "account": [key.account_id for key, _ in answers],
            "path": [key.path for key, _ in answers],
            "key": [key.key for key, _ in answers],
            "fingerprint": [key.fingerprint for key, _ in answers],
            "answer": [answer for _, answer in answers],
        },
    )


def replay(key: Key, fingerprint: bytes, answer: str) -> Answered:
    """The answer of the first request. Raises Problem idempotency_key_reused where that was another request."""
    if fingerprint != key.fingerprint:
        raise Problem("idempotency_key_reused", "The first request with this Idempotency-Key had another body.")
    return Answered(answer, replayed=True)


def once(connection: Connection, key: Key | None, act: Callable[[], str]) -> Answered:
    """Do something in the connection's transaction, or give the answer of when it was done."""
    if key is not None:
        wait_for(connection, key)
        before = stored(connection, [key]).get(key.lock)
        if before is not None:
            return replay(key, *before)
    body = act()
    if key is not None:
        store(connection, [(key, body)])
    return Answered(body)
