"""Operator keys: who may use the operator API, and for what.

They belong to the installation, not to an account, and neither they nor their tokens work on the API of customers.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.accounts.audit_log import record
from shared.accounts.key_checks import allowed_networks, check_scopes
from shared.accounts.refused import Refused
from shared.api_key import NewKey, hash_secret, make_operator_key
from shared.db.tables.accounts import operator_key, operator_revocation

OPERATOR_SCOPES = {
    "read": "read everything but texts and full phone numbers",
    "texts": "see texts and full phone numbers",
    "accounts": "change accounts, their keys, limits and rules, and hold, release and cancel sends",
    "money": "top up, reverse, adjust and refund, set credit limits, and change prices",
    "senders": "decide on sender IDs, and assign inbound messages",
    "carriers": "control and test carriers, retry jobs and release the guard",
    "doubt": "resolve messages in doubt",
}
"""Each scope, and what it allows."""
MAX_TOKEN_SECONDS = 3600
"""The longest that a token of an operator is valid."""
KEPT = timedelta(seconds=2 * MAX_TOKEN_SECONDS)
"""How long a revocation is kept: longer than the tokens that it revokes."""

IS_NOT_REVOKED = (operator_key.c.id == bindparam("key")) & operator_key.c.revoked_at.is_(None)
IS_ACTIVE = IS_NOT_REVOKED & or_(operator_key.c.expires_at.is_(None), operator_key.c.expires_at > func.now())
ACTIVE = select(
    operator_key.c.secret_hash, operator_key.c.scopes, operator_key.c.allowed_ips, operator_key.c.expires_at
).where(IS_ACTIVE)
LOCK = select(operator_key.c.id).where(IS_ACTIVE).with_for_update(read=True)
USED = update(operator_key).where(IS_NOT_REVOKED).values(last_used_at=func.now(), secret_hash=bindparam("new"))
LIST = select(
    *operator_key.c["id", "name", "scopes", "allowed_ips", "created_at", "expires_at", "revoked_at", "last_used_at"],
).order_by(operator_key.c.created_at, operator_key.c.id)
REVOKE = update(operator_key).where(IS_NOT_REVOKED).values(revoked_at=func.clock_timestamp())
NOW = {"revoked_at": func.clock_timestamp()}
REVOKE_TOKENS = insert(operator_revocation).values(NOW).on_conflict_do_update(index_elements=["holder"], set_=NOW)
FORGET = delete(operator_revocation).where(operator_revocation.c.revoked_at < func.now() - KEPT)
REVOKED = select(operator_revocation.c.holder)


class ActiveKey(NamedTuple):
    """An operator key that can be exchanged for a token."""

    secret_hash: bytes
    scopes: list[str]
    allowed_ips: list[str] | None
    expires_at: datetime | None


def actor_of_key(key_id: str) -> str:
    """An operator key as the audit log names it."""
    return f"operator key {key_id}"


def create_operator_key(
    connection: Connection,
    name: str,
    scopes: Sequence[str],
    pepper: str,
    expires_at: datetime | None = None,
    *,
    allowed_ips: Sequence[str] | None = None,
) -> NewKey:
    """Create an operator key. Its secret is returned here and stored nowhere; `pepper` is SECRET_KEY.

    Raises Refused for unknown or no scopes, an empty name, and invalid networks.
    """
    check_scopes(scopes, OPERATOR_SCOPES)
    if not name.strip():
        raise Refused("Name the key after the person or system that uses it.")
    allowed = allowed_networks(allowed_ips)
    key = make_operator_key()
    properties = {"name": name, "scopes": sorted(scopes), "expires_at": expires_at, "allowed_ips": allowed}
    secret_hash = hash_secret(key.api_secret, pepper)
    connection.execute(insert(operator_key).values(id=key.api_key, secret_hash=secret_hash, **properties))
    record(connection, None, "operator_key.created", subject=key.api_key, after=properties)
    return key


def list_operator_keys(connection: Connection) -> list[dict[str, Any]]:
    """All operator keys without their secrets, oldest first."""
    return [dict(row) for row in connection.execute(LIST).mappings()]


def active_key(connection: Connection, key_id: str) -> ActiveKey | None:
    """A key that is neither revoked nor expired."""
    row = connection.execute(ACTIVE, {"key": key_id}).one_or_none()
    return None if row is None else ActiveKey(*row)


def lock_operator_key(connection: Connection, key_id: str) -> bool:
    """Whether the key is neither revoked nor expired. If so, it cannot be revoked until the transaction ends."""
    return connection.execute(LOCK, {"key": key_id}).one_or_none() is not None


def note_use(connection: Connection, key_id: str, secret_hash: bytes) -> bool:
    """Record that a key was used now, with its secret's hash under the current SECRET_KEY. False if it is revoked.

    Waits for a revocation that is about to commit.
    """
    return bool(connection.execute(USED, {"key": key_id, "new": secret_hash}).rowcount)


def revoke_operator_key(connection: Connection, key_id: str) -> None:
    """Revoke an operator key and, within seconds, its tokens. Raises Refused unless there is such a key."""
    if not connection.execute(REVOKE, {"key": key_id}).rowcount:
        raise Refused(
            f"There is no operator key {key_id}, or it is revoked.", "`bulksms operator-key list` shows them."
        )
    revoke_operator_tokens(connection, actor_of_key(key_id))
    record(connection, None, "operator_key.revoked", subject=key_id)


def revoke_operator_tokens(connection: Connection, holder: str) -> None:
    """Revoke all operator tokens of a holder that has ended for good, within seconds in all processes.

    A holder is the actor of the tokens, such as `operator key opk_…`, or a name that was given as `ends_with` when they
    were issued, such as `session 0190…`.
    """
    connection.execute(FORGET)
    connection.execute(REVOKE_TOKENS, {"holder": holder})


def operator_revocations(connection: Connection) -> frozenset[str]:
    """The holders whose tokens were revoked."""
    return frozenset(connection.execute(REVOKED).scalars())
