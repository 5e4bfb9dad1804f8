"""What was taken back from callers: tokens, keys, secrets and accounts, as far as this process knows."""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, text

from api.auth.caller import Caller
from shared.accounts.limits import Limits, all_limits
from shared.db.connection import reading

OVERLAP = timedelta(seconds=90)
"""How long a revocation may take to be committed: longer than the database lets a transaction be idle."""
FORGET_EVERY = 600.0
"""Seconds after which tokens that have ended are forgotten."""

CLOCK = text("SELECT clock_timestamp()")
REVOKED = text("SELECT id, expires_at FROM revoked_token WHERE expires_at > now()")
REVOKED_SINCE = text("SELECT id, expires_at FROM revoked_token WHERE revoked_at >= :since")
DEAD_KEYS = text(
    """
    SELECT id FROM api_key
     WHERE revoked_at > now() - interval '25 hours' OR expires_at BETWEEN now() - interval '25 hours' AND now()
    """
)
OLDEST = text(
    """
    SELECT id, generation - CASE WHEN previous_until > now() THEN 1 ELSE 0 END FROM api_key
     WHERE previous_until > now() - interval '25 hours'
    """
)
CLOSED_ACCOUNTS = text("SELECT id FROM account WHERE state <> 'active'")


class RevokedTokens:
    """The tokens that were revoked and have not ended. Read once, and then only what is new.

    Safe to be asked while one thread reads.
    """

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}
        self._read_until: datetime | None = None
        self._forget_at = time.monotonic() + FORGET_EVERY

    def __contains__(self, token_id: str) -> bool:
        return token_id in self._ends

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, token_id: str, expires_at: datetime) -> None:
        """A token was revoked here."""
        self._ends[token_id] = expires_at.timestamp()

    def read(self, connection: Connection) -> int:
        """Take in what was revoked since the last time. Returns how many rows were read."""
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
        """Forget the tokens that have ended."""
        now = time.time()
        for token_id in [token_id for token_id, end in list(self._ends.items()) if end < now]:
            del self._ends[token_id]
        self._forget_at = time.monotonic() + FORGET_EVERY


@dataclass(frozen=True, slots=True)
class Revocations:
    """What was taken back, and what accounts are limited to, as of one moment."""

    tokens: RevokedTokens = field(default_factory=RevokedTokens)
    keys: frozenset[str] = frozenset()
    accounts: frozenset[int] = frozenset()
    oldest: dict[str, int] = field(default_factory=dict)
    """The oldest generation that is alive, of keys that were rotated lately."""
    limits: dict[int, Limits] = field(default_factory=dict)
    """Of the accounts that have any of their own."""

    def of_caller(self, caller: Caller) -> bool:
        """Whether the caller's token, its key or its secret was taken back."""
        key = caller.key_id
        return caller.token_id in self.tokens or key in self.keys or caller.generation < self.oldest.get(key, 0)


def read_revocations(engine: Engine, tokens: RevokedTokens) -> Revocations:
    """What is taken back by now; `tokens` is brought up to date."""
    with reading(engine) as connection:
        tokens.read(connection)
        return Revocations(
            tokens,
            frozenset(connection.execute(DEAD_KEYS).scalars()),
            frozenset(connection.execute(CLOSED_ACCOUNTS).scalars()),
            {row.id: row[1] for row in connection.execute(OLDEST)},
            all_limits(connection),
        )
