"""API keys: find one, verify its secret, rehash it under the current SECRET_KEY, and note when the key is used."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, Row, bindparam, case, func, or_, select, update

from shared.accounts.api_keys import USED_RESOLUTION
from shared.api_key import DIGEST_BYTES, hash_secret, matches
from shared.db.connection import reading
from shared.db.tables.accounts import account, api_key

KEY = (
    select(
        api_key.c.account_id,
        api_key.c.secret_hash,
        account.c.sandbox_of,
        *api_key.c["scopes", "allowed_ips", "requests_per_second", "generation"],
        case((api_key.c.previous_until > func.now(), api_key.c.previous_hash)).label("previous_hash"),
        account.c.state,
    )
    .join(account, account.c.id == api_key.c.account_id)
    .where(api_key.c.id == bindparam("key"), api_key.c.revoked_at.is_(None))
    .where(or_(api_key.c.expires_at.is_(None), api_key.c.expires_at > func.now()))
)
USED = (
    update(api_key)
    .where(api_key.c.id == bindparam("key"))
    .where(or_(api_key.c.last_used_at.is_(None), api_key.c.last_used_at < func.now() - USED_RESOLUTION))
    .values(last_used_at=func.now())
)
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


def find_live_key(engine: Engine, key: str) -> Row[*tuple[Any, ...]] | None:
    """The live key with this id and its account's state; None if there is none."""
    with reading(engine) as connection:
        return connection.execute(KEY, {"key": key}).one_or_none() if is_storable(key) else None


def is_storable(value: str) -> bool:
    """Whether a string can be a parameter of a query: short, and without NUL or a lone surrogate."""
    return len(value) <= 200 and value.isprintable()


def verify_secret(row: Row[*tuple[Any, ...]] | None, secret: str, peppers: Sequence[str]) -> int | None:
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


def note_use(engine: Engine, key: str) -> None:
    """Update the key's `last_used_at`."""
    with engine.begin() as connection:
        connection.execute(USED, {"key": key})
