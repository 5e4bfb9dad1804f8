"""The secrets of API keys: which one was given, and its hash under the current SECRET_KEY."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, text

from shared.api_key import DIGEST_BYTES, hash_secret, matches

HASH_ANEW = text("UPDATE api_key SET secret_hash = :new WHERE id = :id AND secret_hash = :old")
HASH_PREVIOUS_ANEW = text("UPDATE api_key SET previous_hash = :new WHERE id = :id AND previous_hash = :old")


def generation_of(row: Row[Any] | None, secret: str, peppers: Sequence[str]) -> int | None:
    """The generation of the secret of a key's row, where it is a live one; takes as long where there is no key."""
    stored = row.secret_hash if row is not None else bytes(DIGEST_BYTES)
    before = (row.previous_hash if row is not None else None) or bytes(DIGEST_BYTES)
    current = matches(bytes(stored), secret, peppers)
    previous = matches(bytes(before), secret, peppers)
    if row is None or not (current or previous):
        return None
    return int(row.generation) if current else int(row.generation) - 1


def hash_anew(engine: Engine, key: str, secret: str, row: Row[Any], peppers: Sequence[str]) -> None:
    """Store the hash of a live secret under the first pepper, where there are others and it is under one of those."""
    new = hash_secret(secret, peppers[0])
    if len(peppers) == 1 or new in (bytes(row.secret_hash), bytes(row.previous_hash or b"")):
        return
    is_current = matches(bytes(row.secret_hash), secret, peppers)
    statement, old = (HASH_ANEW, row.secret_hash) if is_current else (HASH_PREVIOUS_ANEW, row.previous_hash)
    with engine.begin() as connection:
        connection.execute(statement, {"id": key, "old": old, "new": new})
