"""The queries of API keys and tokens."""

from datetime import timedelta

from sqlalchemy import bindparam, case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.db.tables.accounts import account, api_key, revoked_token

USED_RESOLUTION = timedelta(seconds=50)
"""How old `last_used_at` of a key must be to be updated: several processes would all update it."""

KEY = (
    select(
        api_key.c.account_id,
        api_key.c.secret_hash,
        account.c.sandbox_of,
        api_key.c.scopes,
        api_key.c.allowed_ips,
        api_key.c.requests_per_second,
        api_key.c.generation,
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
LIVE_REVOCATIONS = select(func.count()).select_from(
    select(revoked_token.c.id)
    .where(revoked_token.c.api_key_id == bindparam("key"), revoked_token.c.id != bindparam("token"))
    .where(revoked_token.c.expires_at > func.now())
    .limit(bindparam("most"))
    .subquery()
)
REVOKE = insert(revoked_token).on_conflict_do_nothing()
