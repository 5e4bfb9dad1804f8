"""Lets accounts list, create, rotate and revoke their own API keys.

A key can create or change only keys with no more rights than its own; `exceeds` compares them. An account sees the keys
of its sandbox too; a test key sees only these.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, text

from shared.accounts.administration import Refused
from shared.accounts.audit_log import By, record
from shared.accounts.sandbox import WITH_SANDBOX
from shared.api_key import hash_secret, networks

MAX_KEYS = 100
"""Maximum active keys of an account, and of a sandbox."""
MAX_OVERLAP_SECONDS = 7 * 86_400
"""Maximum seconds for which the previous secret works after a rotation."""

COLUMNS = """id, name, test, scopes, allowed_ips, requests_per_second, created_at, expires_at, revoked_at, last_used_at,
             CASE WHEN previous_until > clock_timestamp() THEN previous_until END AS old_secret_expires_at"""
FIND = text(f"SELECT {COLUMNS} FROM api_key WHERE account_id IN {WITH_SANDBOX} AND id = :id")
LIST = text(
    f"""
    SELECT {COLUMNS} FROM api_key WHERE account_id IN {WITH_SANDBOX} AND id > :after AND revoked_at IS NULL
     ORDER BY id LIMIT :limit
    """
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
    """One key of the account or its sandbox."""
    row = connection.execute(FIND, {"account": account_id, "id": key_id}).one_or_none()
    return None if row is None else ApiKey(*row)


def list_keys(connection: Connection, account_id: int, after: str, limit: int) -> list[ApiKey]:
    """Active keys of the account and its sandbox, by id."""
    values = {"account": account_id, "after": after, "limit": limit}
    return [ApiKey(*row) for row in connection.execute(LIST, values)]


def count_keys(connection: Connection, key_id: str) -> int:
    """Active keys of the account or sandbox that has this key."""
    return int(connection.execute(COUNT, {"key": key_id}).scalar_one())


def exceeds(holder: ApiKey, other: ApiKey) -> str | None:
    """The first right that `other` has and `holder` lacks: a scope's name, `test`, `allowed_ips`, `expires_at` or
    `requests_per_second`. None if there is none.
    """
    more = sorted(set(other.scopes) - set(holder.scopes))
    if more:
        return more[0]
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
    """Give a live key a new secret. Returns when the previous one expires, with all of its tokens: after `overlap`
    seconds.

    A secret that still worked from an earlier rotation expires at once. Raises Refused if there is no such key.
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
    around: tuple[Any, ...] = networks(outer)
    return bool(inner) and all(
        any(each.version == one.version and each.subnet_of(one) for one in around) for each in networks(inner)
    )
