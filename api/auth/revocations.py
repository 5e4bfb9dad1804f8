"""Revoked tokens, keys and secrets, and closed accounts, as this process last read them."""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, bindparam, case, func, or_, select
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

LONG_AGO = func.now() - timedelta(hours=25)
"""Tokens from before then have expired."""

CLOCK = select(func.clock_timestamp())
REVOKED = select(revoked_token.c.id, revoked_token.c.expires_at).where(revoked_token.c.expires_at > func.now())
REVOKED_SINCE = select(revoked_token.c.id, revoked_token.c.expires_at).where(
    revoked_token.c.revoked_at >= bindparam("since")
)
DEAD_KEYS = select(api_key.c.id).where(
    or_(api_key.c.revoked_at > LONG_AGO, api_key.c.expires_at.between(LONG_AGO, func.now()))
)
OLDEST = select(api_key.c.id, api_key.c.generation - case((api_key.c.previous_until > func.now(), 1), else_=0)).where(
    api_key.c.previous_until > LONG_AGO
)
RECENTLY = func.now() - timedelta(minutes=15)
"""Tokens of people from before then have expired."""
ENDED_SESSIONS = select(person_session.c.id).where(person_session.c.ended_at > RECENTLY)
CHANGED_MEMBERSHIPS = select(membership.c.account_id, membership.c.person_id, membership.c.version).where(
    membership.c.changed_at > RECENTLY
)
CLOSED_ACCOUNTS = select(account.c.id).where(account.c.state != "active")


LIVE_REVOCATIONS = select(func.count()).select_from(
    select(revoked_token.c.id)
    .where(revoked_token.c.api_key_id == bindparam("key"), revoked_token.c.id != bindparam("token"))
    .where(revoked_token.c.expires_at > func.now())
    .limit(bindparam("most"))
    .subquery()
)
REVOKE = insert(revoked_token).on_conflict_do_nothing()


class RevokedTokens:
    """The revoked tokens that have not expired. The first read loads all, later reads only new ones.

    Lookups are safe while one thread reads.
    """

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}
        """When each of them expires, in seconds since the epoch."""
        self._read_until: datetime | None = None
        self._forget_at = time.monotonic() + FORGET_EVERY

    def __contains__(self, token_id: str) -> bool:
        return token_id in self.ends

    def __len__(self) -> int:
        return len(self.ends)

    def add(self, token_id: str, expires_at: datetime) -> None:
        """Add a revoked token."""
        self.ends[token_id] = expires_at.timestamp()

    def revoke(self, engine: Engine, caller: Caller) -> None:
        """Revoke a caller's token. Raises Problem rate_limited if its key has MAX_REVOKED revoked tokens."""
        if caller.token_id in self:
            return
        with engine.begin() as connection:
            others = {"token": caller.token_id, "key": caller.key_id, "most": MAX_REVOKED}
            if connection.execute(LIVE_REVOCATIONS, others).scalar_one() >= MAX_REVOKED:
                raise Problem(
                    "rate_limited",
                    f"{MAX_REVOKED:,} tokens of this API key were revoked in a day. Rotate or revoke the key.",
                    headers={"Retry-After": "3600"},
                )
            token = {"id": caller.token_id, "api_key_id": caller.key_id, "expires_at": caller.expires_at}
            connection.execute(REVOKE, token)
        self.add(caller.token_id, caller.expires_at)

    def read(self, connection: Connection) -> int:
        """Load the tokens revoked since the last read. Returns the number of rows read."""
        now = connection.execute(CLOCK).scalar_one()
        if self._read_until is None:
            rows = connection.execute(REVOKED).all()
        else:
            rows = connection.execute(REVOKED_SINCE, {"since": self._read_until - OVERLAP}).all()
        for row in rows:
            self.add(row.id, row.expires_at)
        self._read_until = now
        if time.monotonic() >= self._forget_at:
            self.forget()
        return len(rows)

    def forget(self) -> None:
        """Remove the tokens that have expired."""
        now = time.time()
        for token_id in [token_id for token_id, end in list(self.ends.items()) if end < now]:
            del self.ends[token_id]
        self._forget_at = time.monotonic() + FORGET_EVERY


@dataclass(frozen=True, slots=True)
class Revocations:
    """A snapshot of all revocations, and of the limits of accounts."""

    tokens: RevokedTokens = field(default_factory=RevokedTokens)
    keys: frozenset[str] = frozenset()
    accounts: frozenset[int] = frozenset()
    oldest: dict[str, int] = field(default_factory=dict)
    """The oldest live generation of each recently rotated key."""
    limits: dict[int, Limits] = field(default_factory=dict)
    """Limits of the accounts that have their own."""
    sessions: frozenset[str] = frozenset()
    """Sessions of people that ended recently."""
    members: dict[tuple[int, str], int] = field(default_factory=dict)
    """By account and person, the version of each membership that changed recently."""
    operators: dict[str, datetime] = field(default_factory=dict)
    """By operator, key or session: when the operator tokens that were issued to it before were revoked."""


def read_revocations(engine: Engine, tokens: RevokedTokens) -> Revocations:
    """Read the current revocations, and bring `tokens` up to date."""
    with reading(engine) as connection:
        tokens.read(connection)
        return Revocations(
            tokens,
            frozenset(connection.execute(DEAD_KEYS).scalars()),
            frozenset(connection.execute(CLOSED_ACCOUNTS).scalars()),
            {row.id: row[1] for row in connection.execute(OLDEST)},
            all_limits(connection),
            frozenset(map(str, connection.execute(ENDED_SESSIONS).scalars())),
            {(row.account_id, actor_of(row.person_id)): row.version for row in connection.execute(CHANGED_MEMBERSHIPS)},
            operator_revocations(connection),
        )
