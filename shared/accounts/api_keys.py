"""API keys as an account manages them itself: list, create, rotate and revoke.

A key may only create and manage keys without more privileges than its own; `exceeds` compares them. An account also
manages the keys of its sandbox; a test key sees only those.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, bindparam, case, func, or_, select, text

from shared.accounts.administration import Refused
from shared.accounts.audit_log import By, record
from shared.accounts.sandbox import WITH_SANDBOX
from shared.api_key import hash_secret, networks
from shared.db.tables.accounts import account, api_key

MAX_KEYS = 100
"""Maximum number of keys that are not revoked, per account and per sandbox."""
MAX_OVERLAP_SECONDS = 7 * 86_400
"""Maximum seconds for which the old secret works after a rotation."""

COLUMNS = """id, name, test, scopes, allowed_ips, requests_per_second, created_at, expires_at, revoked_at, last_used_at,
             CASE WHEN previous_until > clock_timestamp() THEN previous_until END AS old_secret_expires_at"""
ALL_COLUMNS = (
    api_key.c.id,
    api_key.c.name,
    api_key.c.test,
    api_key.c.scopes,
    api_key.c.allowed_ips,
    api_key.c.requests_per_second,
    api_key.c.created_at,
    api_key.c.expires_at,
    api_key.c.revoked_at,
    api_key.c.last_used_at,
)
FIND = text(f"SELECT {COLUMNS} FROM api_key WHERE account_id IN {WITH_SANDBOX} AND id = :id")
LIST = text(
    f"""
    SELECT {COLUMNS} FROM api_key WHERE account_id IN {WITH_SANDBOX} AND id > :after AND revoked_at IS NULL
     ORDER BY id LIMIT :limit
    """
)
LOCK = (
    select(api_key.c.id, api_key.c.generation - case((api_key.c.previous_until > func.clock_timestamp(), 1), else_=0))
    .where(api_key.c.id.in_(bindparam("keys", expanding=True)), api_key.c.revoked_at.is_(None))
    .where(or_(api_key.c.expires_at.is_(None), api_key.c.expires_at > func.now()))
    .order_by(api_key.c.id)
    .with_for_update(key_share=True)
)
COUNT = text(
    """
    SELECT count(*) FROM api_key
     WHERE account_id = (SELECT account_id FROM api_key WHERE id = :key) AND revoked_at IS NULL
    """
)
ROTATE = text(
    f"""
    UPDATE api_key
       SET previous_hash = secret_hash, previous_until = clock_timestamp() + make_interval(secs => :overlap),
           secret_hash = :secret_hash, generation = generation + 1
     WHERE account_id IN {WITH_SANDBOX} AND id = :id AND revoked_at IS NULL
    RETURNING previous_until
    """
)


class ApiKey(NamedTuple):
    """A key without its secrets."""

    id: str
    name: str | None
    test: bool
    scopes: list[str]
    allowed_ips: list[str] | None
    requests_per_second: int | None
    created_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    old_secret_expires_at: datetime | None


def find_key(connection: Connection, account_id: int, key_id: str) -> ApiKey | None:
    """A key of the account or its sandbox."""
    row = connection.execute(FIND, {"account": account_id, "id": key_id}).one_or_none()
    return None if row is None else ApiKey(*row)


def lock_keys(connection: Connection, key_ids: Collection[str]) -> dict[str, int]:
    """The keys that are neither revoked nor expired, which cannot change until the transaction ends.

    Each with the oldest generation whose secret still works.
    """
    return {row[0]: row[1] for row in connection.execute(LOCK, {"keys": sorted(key_ids)})}


def list_keys(connection: Connection, account_id: int, after: str, limit: int) -> list[ApiKey]:
    """Keys of the account and its sandbox that are not revoked, in the order of their ids."""
    values = {"account": account_id, "after": after, "limit": limit}
    return [ApiKey(*row) for row in connection.execute(LIST, values)]


def list_all_keys(connection: Connection, account_id: int) -> list[dict[str, Any]]:
    """All keys of the account and its sandbox, also revoked ones, oldest first."""
    of_account = select(account.c.id).where(or_(account.c.id == account_id, account.c.sandbox_of == account_id))
    chosen = select(*ALL_COLUMNS).where(api_key.c.account_id.in_(of_account))
    return [dict(row) for row in connection.execute(chosen.order_by(api_key.c.created_at, api_key.c.id)).mappings()]


def count_keys(connection: Connection, key_id: str) -> int:
    """The number of keys that are not revoked, of the account or sandbox that has this key."""
    return int(connection.execute(COUNT, {"key": key_id}).scalar_one())


def exceeds(holder: ApiKey, other: ApiKey) -> str | None:
    """The first privilege that `other` has and `holder` does not; None if there is none.

    The name of a scope, or `test`, `allowed_ips`, `expires_at` or `requests_per_second`.
    """
    extra_scopes = sorted(set(other.scopes) - set(holder.scopes))
    if extra_scopes:
        return extra_scopes[0]
    if holder.test and not other.test:
        return "test"
    if holder.allowed_ips and not _within(other.allowed_ips, holder.allowed_ips):
        return "allowed_ips"
    if holder.expires_at and (other.expires_at is None or other.expires_at > holder.expires_at):
        return "expires_at"
    if holder.requests_per_second and (other.requests_per_second or 2**31) > holder.requests_per_second:
        return "requests_per_second"
    return None


def rotate_key(
    connection: Connection,
    account_id: int,
    key_id: str,
    secret: str,
    pepper: str,
    overlap: int,
    *,
    by: By | None = None,
) -> datetime:
    """Give a key a new secret. Returns the time at which the old one expires, `overlap` seconds from now.

    Tokens issued for the old secret expire with it. A secret left from an earlier rotation expires at once. Raises
    Refused for an unknown or revoked key.
    """
    values = {
        "account": account_id,
        "id": key_id,
        "secret_hash": hash_secret(secret, pepper),
        "overlap": overlap,
    }
    until = cast("datetime | None", connection.execute(ROTATE, values).scalar())
    if until is None:
        raise Refused(f"There is no API key {key_id}, or it is revoked.")
    record(connection, by, "key.rotated", account_id=account_id, subject=key_id, after={"old_secret_until": until})
    return until


def _within(inner: Sequence[str] | None, outer: Sequence[str]) -> bool:
    outer_networks: tuple[Any, ...] = networks(outer)
    return bool(inner) and all(
        any(each.version == other.version and each.subnet_of(other) for other in outer_networks)
        for each in networks(inner)
    )
