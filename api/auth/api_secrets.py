"""Verify the secrets of API keys, and rehash them under the current SECRET_KEY."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, bindparam, update

from shared.api_key import DIGEST_BYTES, hash_secret, matches
from shared.db.tables.accounts import api_key

REHASH = (
    update(api_key)
    .where(api_key.c.id == bindparam("key"), api_key.c.secret_hash == bindparam("old"))
    .values(secret_hash=bindparam("new"))
)
REHASH_PREVIOUS = (
    update(api_key)
    .where(api_key.c.id == bindparam("key"), api_key.c.previous_hash == bindparam("old"))
    .values(previous_hash=bindparam("new"))
)


def generation_of(row: Row[*tuple[Any, ...]] | None, secret: str, peppers: Sequence[str]) -> int | None:
    """The generation of a live secret; None if the secret is wrong. Takes the same time if the key does not exist."""
    current_hash = row.secret_hash if row is not None else bytes(DIGEST_BYTES)
    previous_hash = (row.previous_hash if row is not None else None) or bytes(DIGEST_BYTES)
    is_current = matches(bytes(current_hash), secret, peppers)
    is_previous = matches(bytes(previous_hash), secret, peppers)
    if row is None or not (is_current or is_previous):
        return None
    return int(row.generation) if is_current else int(row.generation) - 1


def rehash(engine: Engine, key: str, secret: str, row: Row[*tuple[Any, ...]], peppers: Sequence[str]) -> None:
    """Store the hash of a live secret under the first pepper if it is stored under another one."""
    new = hash_secret(secret, peppers[0])
    if len(peppers) == 1 or new in (bytes(row.secret_hash), bytes(row.previous_hash or b"")):
        return
    is_current = matches(bytes(row.secret_hash), secret, peppers)
    statement, old = (REHASH, row.secret_hash) if is_current else (REHASH_PREVIOUS, row.previous_hash)
    with engine.begin() as connection:
        connection.execute(statement, {"key": key, "old": old, "new": new})
