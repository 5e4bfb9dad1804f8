"""What an account does with its own API keys: list, make, rotate and revoke them.

A key may hand out, and lay hands on, no more than it has itself: `exceeds` says what another one has more. The keys of
an account are also those of its sandbox; a test key sees only these.
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
"""Keys of one account that are not revoked, and of one sandbox."""
MAX_OVERLAP_SECONDS = 7 * 86_400
"""Seconds for which a secret may live on after its key was rotated."""

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
    """A key as it may be shown: everything but its secrets."""

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
    """One key of the account, or of its sandbox."""
    row = connection.execute(FIND, {"account": account_id, "id": key_id}).one_or_none()
    return None if row is None else ApiKey(*row)


def list_keys(connection: Connection, account_id: int, after: str, limit: int) -> list[ApiKey]:
    """Keys of the account and its sandbox that are not revoked, by id."""
    values = {"account": account_id, "after": after, "limit": limit}
    return [ApiKey(*row) for row in connection.execute(LIST, values)]


def count_keys(connection: Connection, key_id: str) -> int:
    """The keys that are not revoked, of the account or sandbox that has this key."""
    return int(connection.execute(COUNT, {"key": key_id}).scalar_one())


def exceeds(holder: ApiKey, other: ApiKey) -> str | None:
    """What `other` has that `holder` has not: a scope by its name, else `test`, `allowed_ips`, `expires_at` or
    `requests_per_second`. None when it has nothing more."""
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
    """Give a live key another secret. Returns when the one before dies, `overlap` seconds from now, and with it every
    token that was got with it; one that was still alive from a rotation before dies at once. Refused without the key.
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
