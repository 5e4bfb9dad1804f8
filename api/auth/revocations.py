"""Revoked tokens, keys and secrets, and closed accounts, as this process last read them."""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, DateTime, Engine, Text, bindparam, case, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from api.auth.caller import Caller
from api.problems import Problem
from shared.accounts.limits import Limits, all_limits
from shared.accounts.operator_keys import operator_revocations
from shared.db.connection import reading
from shared.db.tables.accounts import account, api_key, revoked_token
from shared.db.tables.people import membership, person_session
from shared.people.persons import actor_of

OVERLAP = timedelta(seconds=90)
"""The longest that a revocation may take to commit: more than the database lets a transaction stay idle."""
FORGET_EVERY = 600.0
"""Seconds between removals of expired tokens."""
MAX_REVOKED = 1_000
"""Revoked, unexpired tokens of one key."""
MAX_REVOKED_OF_ACCOUNT = 10_000
"""Revoked, unexpired tokens of all keys of one account."""

KEPT = timedelta(hours=25)
"""Tokens issued before then have expired."""
LONG_AGO = func.now() - KEPT
SINCE = bindparam("since", type_=DateTime(timezone=True))

CLOCK = select(func.clock_timestamp())
REVOKED = select(revoked_token.c.id, revoked_token.c.expires_at).where(revoked_token.c.expires_at > func.now())
REVOKED_SINCE = select(revoked_token.c.id, revoked_token.c.expires_at).where(revoked_token.c.revoked_at >= SINCE)
OLDEST = select(api_key.c.id, api_key.c.generation - case((api_key.c.previous_until > func.now(), 1), else_=0)).where(
    api_key.c.previous_until > LONG_AGO
)
RECENTLY = func.now() - timedelta(minutes=75)
"""Tokens of people from before then have expired, even if the clock of a host is set back by an hour."""
ENDED_SESSIONS = select(person_session.c.id).where(person_session.c.ended_at > RECENTLY)
CHANGED_MEMBERSHIPS = select(membership.c.account_id, membership.c.person_id, membership.c.version).where(
    membership.c.changed_at > RECENTLY
)
ENDED_KEYS = select(api_key.c.id).where(
    or_(api_key.c.revoked_at >= LONG_AGO, api_key.c.expires_at.between(LONG_AGO, func.now()))
)
CLOSED_ACCOUNTS = select(account.c.id).where(account.c.state != "active")

OTHER_LIVE = (
    select(revoked_token.c.id)
    .where(revoked_token.c.id != bindparam("token"), revoked_token.c.expires_at > func.now())
    .limit(bindparam("most"))
)
OF_KEY = select(func.count()).select_from(OTHER_LIVE.where(revoked_token.c.api_key_id == bindparam("key")).subquery())
KEYS_OF_ACCOUNT = select(api_key.c.id).where(api_key.c.account_id == bindparam("account"))
OF_ACCOUNT = select(func.count()).select_from(
    OTHER_LIVE.where(revoked_token.c.api_key_id.in_(KEYS_OF_ACCOUNT)).subquery()
)
REVOKE = insert(revoked_token).on_conflict_do_nothing()
TOKEN = bindparam("token", type_=Text)
LOCK_TOKEN = select(func.pg_advisory_xact_lock(func.hashtextextended("token " + TOKEN, 0)))
FIND_REVOKED = select(revoked_token.c.id).where(revoked_token.c.id == TOKEN)


class RevokedTokens:
    """The revoked tokens that have not expired, which can be 10,000 of each account.

    The first read loads all, later reads only new ones. Lookups are safe while one thread reads.
    """

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}
        """When each expires, in seconds since the epoch."""
        self._read_until: datetime | None = None
        self._forget_at = time.monotonic() + FORGET_EVERY

    def __contains__(self, token_id: str) -> bool:
        return token_id in self.ends

    def __len__(self) -> int:
        return len(self.ends)

    def add(self, token_id: str, expires_at: datetime) -> None:
        """Add one, to be known until it expires."""
        self.ends[token_id] = expires_at.timestamp()

    def read(self, connection: Connection) -> int:
        """Load what was revoked since the last read. Returns the number of rows read."""
        now = connection.execute(CLOCK).scalar_one()
        if self._read_until is None:
            rows = connection.execute(REVOKED).all()
        else:
            since = min(self._read_until, now) - OVERLAP  # the clock may have been set back since then
            rows = connection.execute(REVOKED_SINCE, {"since": since}).all()
        for row in rows:
            self.add(row.id, row.expires_at)
        self._read_until = now
        if time.monotonic() >= self._forget_at:
            self.forget()
        return len(rows)

    def forget(self) -> None:
        """Remove the expired ones."""
        now = time.time()
        for token_id in [token_id for token_id, end in list(self.ends.items()) if end < now]:
            del self.ends[token_id]
        self._forget_at = time.monotonic() + FORGET_EVERY

    def revoke(self, engine: Engine, caller: Caller) -> None:
        """Revoke a caller's token. Raises Problem rate_limited if its key or account has too many revoked tokens."""
        if caller.token_id in self:
            return
        with engine.begin() as connection:
            connection.execute(LOCK_TOKEN, {"token": caller.token_id})
            others = {"token": caller.token_id, "key": caller.key_id, "most": MAX_REVOKED}
            if connection.execute(OF_KEY, others).scalar_one() >= MAX_REVOKED:
                raise _too_many(f"{MAX_REVOKED:,} tokens of this API key")
            others |= {"account": caller.account_id, "most": MAX_REVOKED_OF_ACCOUNT}
            if connection.execute(OF_ACCOUNT, others).scalar_one() >= MAX_REVOKED_OF_ACCOUNT:
                raise _too_many(f"{MAX_REVOKED_OF_ACCOUNT:,} tokens of this account")
            token = {"id": caller.token_id, "api_key_id": caller.key_id, "expires_at": caller.expires_at}
            connection.execute(REVOKE, token)
        self.add(caller.token_id, caller.expires_at)


def lock_token(connection: Connection, token_id: str) -> bool:
    """Whether a token is not among the revoked ones. If so, it cannot be revoked until the transaction ends."""
    connection.execute(LOCK_TOKEN, {"token": token_id})
    return connection.execute(FIND_REVOKED, {"token": token_id}).one_or_none() is None


def _too_many(tokens: str) -> Problem:
    detail = f"{tokens} were revoked in a day. Rotate or revoke the key."
    return Problem("rate_limited", detail, headers={"Retry-After": "3600"})


@dataclass(frozen=True, slots=True)
class Revocations:
    """A snapshot of all revocations, and of the limits of accounts."""

    tokens: RevokedTokens = field(default_factory=RevokedTokens)
    keys: frozenset[str] = frozenset()
    """Keys that were revoked or have expired, until the last of their tokens has."""
    accounts: frozenset[int] = frozenset()
    oldest: dict[str, int] = field(default_factory=dict)
    """The oldest live generation of each recently rotated key."""
    limits: dict[int, Limits] = field(default_factory=dict)
    """Limits of the accounts that have their own."""
    sessions: frozenset[str] = frozenset()
    """Sessions of people that ended recently."""
    members: dict[tuple[int, str], int] = field(default_factory=dict)
    """By account and person, the version of each membership that changed recently."""
    operators: frozenset[str] = frozenset()
    """Operator keys that were revoked and sessions that ended recently, as holders of operator tokens."""


def read_revocations(engine: Engine, known: Revocations) -> Revocations:
    """Read the current revocations. The tokens of `known` are brought up to date."""
    with reading(engine) as connection:
        known.tokens.read(connection)
        return Revocations(
            known.tokens,
            frozenset(connection.execute(ENDED_KEYS).scalars()),
            frozenset(connection.execute(CLOSED_ACCOUNTS).scalars()),
            {row.id: row[1] for row in connection.execute(OLDEST)},
            all_limits(connection),
            frozenset(map(str, connection.execute(ENDED_SESSIONS).scalars())),
            {(row.account_id, actor_of(row.person_id)): row.version for row in connection.execute(CHANGED_MEMBERSHIPS)},
            operator_revocations(connection),
        )
