"""API keys as an account manages them itself: list, create, rotate and revoke.

A key may only create and manage keys without more privileges than its own; `exceeds` compares them. An account also
manages the keys of its sandbox; a test key sees only those.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Integer, Interval, bindparam, case, func, or_, select, update

from shared.accounts.administration import Refused
from shared.accounts.audit_log import Actor, record
from shared.accounts.sandbox import IDS_WITH_SANDBOX
from shared.api_key import hash_secret, networks
from shared.db.tables.accounts import api_key

MAX_KEYS = 100
"""Maximum number of keys that are not revoked, per account and per sandbox."""
MAX_CREATED_PER_DAY = 100
"""Maximum number of keys that an account, or a sandbox, can create in 24 hours, whatever became of them."""
MAX_OVERLAP_SECONDS = 7 * 86_400
"""Maximum seconds for which the old secret works after a rotation."""
USED_RESOLUTION = timedelta(seconds=50)
"""How old the `last_used_at` of a key or a session must be to be updated: several processes would all update it."""

KEYS = api_key.c
ALL_COLUMNS = (
    *KEYS["id", "name", "test", "scopes", "allowed_ips", "requests_per_second", "created_at", "expires_at"],
    *KEYS["revoked_at", "last_used_at"],
)
OLD_SECRET_WORKS = KEYS.previous_until > func.clock_timestamp()
OF_ACCOUNT = KEYS.account_id.in_(IDS_WITH_SANDBOX)
READ = select(*ALL_COLUMNS, case((OLD_SECRET_WORKS, KEYS.previous_until)).label("old_secret_expires_at"))
FIND = READ.where(OF_ACCOUNT, KEYS.id == bindparam("key"))
LIST = (
    READ.where(OF_ACCOUNT, KEYS.id > bindparam("after"), KEYS.revoked_at.is_(None))
    .order_by(KEYS.id)
    .limit(bindparam("limit", type_=Integer))
)
ALL = select(*ALL_COLUMNS).where(OF_ACCOUNT).order_by(KEYS.created_at, KEYS.id)
LOCK = (
    select(KEYS.id, KEYS.generation - case((OLD_SECRET_WORKS, 1), else_=0))
    .where(KEYS.id.in_(bindparam("keys", expanding=True)), KEYS.revoked_at.is_(None))
    .where(or_(KEYS.expires_at.is_(None), KEYS.expires_at > func.now()))
    .order_by(KEYS.id)
    .with_for_update(key_share=True)
)
HOLDER = select(KEYS.account_id).where(KEYS.id == bindparam("key")).scalar_subquery()
COUNT = select(func.count()).where(KEYS.account_id == HOLDER, KEYS.revoked_at.is_(None))
CREATED = select(func.count()).where(KEYS.account_id == HOLDER, KEYS.created_at > func.now() - timedelta(days=1))
ROTATE = (
    update(api_key)
    .where(OF_ACCOUNT, KEYS.id == bindparam("key"), KEYS.revoked_at.is_(None))
    .where(or_(OLD_SECRET_WORKS.is_not(True), bindparam("overlap", type_=Interval) == timedelta(0)))
    .values(
        previous_hash=KEYS.secret_hash,
        previous_until=func.clock_timestamp() + bindparam("overlap", type_=Interval),
        secret_hash=bindparam("new_hash"),
        generation=KEYS.generation + 1,
    )
    .returning(KEYS.previous_until)
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
    row = connection.execute(FIND, {"account": account_id, "key": key_id}).one_or_none()
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
    found = connection.execute(ALL, {"account": account_id})
    return [dict(row) for row in found.mappings()]


def count_keys(connection: Connection, key_id: str) -> int:
    """The number of keys that are not revoked, of the account or sandbox that has this key."""
    return int(connection.execute(COUNT, {"key": key_id}).scalar_one())


def count_created_keys(connection: Connection, key_id: str) -> int:
    """The number of keys that the account or sandbox that has this key got in the last 24 hours."""
    return int(connection.execute(CREATED, {"key": key_id}).scalar_one())


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
    by: Actor | None = None,
) -> datetime:
    """Give a key a new secret. Returns the time at which the old one expires, `overlap` seconds from now.

    Tokens issued for the old secret expire with it. Raises Refused for an unknown or revoked key, and while a secret
    left from an earlier rotation works: only with an `overlap` of 0 it expires, too.
    """
    values = {
        "account": account_id,
        "key": key_id,
        "new_hash": hash_secret(secret, pepper),
        "overlap": timedelta(seconds=overlap),
    }
    until = cast("datetime | None", connection.execute(ROTATE, values).scalar())
    if until is None:
        key = find_key(connection, account_id, key_id)
        if key and key.old_secret_expires_at and not key.revoked_at:
            works = f"The secret before the last one still works until {key.old_secret_expires_at:%Y-%m-%dT%H:%M:%SZ}"
            raise Refused(f"{works}; a new one now would end it. Give an overlap of 0 to do so, or create another key.")
        raise Refused(f"There is no API key {key_id}, or it is revoked.")
    record(connection, by, "key.rotated", account_id=account_id, subject=key_id, after={"old_secret_until": until})
    return until


def _within(inner: Sequence[str] | None, outer: Sequence[str]) -> bool:
    outer_networks: tuple[Any, ...] = networks(outer)
    return bool(inner) and all(
        any(each.version == other.version and each.subnet_of(other) for other in outer_networks)
        for each in networks(inner)
    )
