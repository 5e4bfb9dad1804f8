"""Bearer tokens: signed, valid 24 hours, revocable.

A token carries its account, key and scopes, signed with SECRET_KEY, so that reading one costs no look-up. What could
have been taken back since (the token, its key, its account) is read from the database every two seconds.
"""

import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer
from sqlalchemy import Engine, text

from api.problems import Problem
from shared.keys import hash_secret, same

VALID = 86_400
"""Seconds."""
FRESH = 2.0
"""Seconds after which revocations are read again."""
REMEMBERED = 10_000
"""Tokens whose signature need not be computed again."""
BEARER = {"WWW-Authenticate": 'Bearer realm="bulksms"'}

KEY = text(
    """
    SELECT k.account_id, k.secret_hash, k.test, k.scopes, a.state
      FROM api_key k JOIN account a ON a.id = k.account_id
     WHERE k.id = :key AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    """
)
REVOKED = text("SELECT id FROM revoked_token WHERE expires_at > now()")
DEAD_KEYS = text(
    """
    SELECT id FROM api_key
     WHERE revoked_at > now() - interval '25 hours' OR expires_at BETWEEN now() - interval '25 hours' AND now()
    """
)
CLOSED_ACCOUNTS = text("SELECT id FROM account WHERE state <> 'active'")
REVOKE = text("INSERT INTO revoked_token (id, expires_at) VALUES (:id, :expires_at) ON CONFLICT DO NOTHING")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request."""

    account_id: int
    key_id: str
    test: bool
    scopes: frozenset[str]
    token_id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Revocations:
    """What was taken back, as of one moment."""

    tokens: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    accounts: frozenset[int] = frozenset()


class Tokens:
    """Issues, reads and revokes tokens for one installation."""

    def __init__(self, engine: Engine, secret_key: str) -> None:
        self._engine = engine
        self._pepper = secret_key
        self._serializer = URLSafeTimedSerializer(secret_key, salt="access-token")
        self._parsed: dict[str, Caller] = {}
        self._revocations = Revocations()
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def issue(self, api_key: str, api_secret: str) -> tuple[str, Caller]:
        """A new token for a key and its secret. Raises Problem invalid_credentials or account_suspended."""
        with self._engine.connect() as connection:
            row = connection.execute(KEY, {"key": api_key}).one_or_none() if storable(api_key) else None
        stored = row.secret_hash if row is not None else bytes(32)
        if not same(bytes(stored), hash_secret(api_secret, self._pepper)) or row is None:
            raise Problem("invalid_credentials", "The API key or the secret is wrong.", headers=BEARER)
        if row.state == "suspended":
            raise Problem("account_suspended", "This account may not use the service at present.")
        token_id = secrets.token_urlsafe(12)
        claims = {"a": row.account_id, "k": api_key, "t": row.test, "s": sorted(row.scopes), "i": token_id}
        token = str(self._serializer.dumps(claims))
        expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=VALID)
        return token, Caller(row.account_id, api_key, row.test, frozenset(row.scopes), token_id, expires_at)

    def read(self, header: str | None) -> Caller:
        """The caller that an Authorization header names. Raises Problem for every 401, and account_suspended."""
        scheme, _, token = (header or "").partition(" ")
        token = token.strip(" ")
        if scheme.lower() != "bearer" or not token:
            raise Problem("missing_token", "The request has no bearer token.", headers=BEARER)
        caller = self.parse(token)
        revoked = self.revocations()
        if caller.token_id in revoked.tokens or caller.key_id in revoked.keys:
            raise Problem("token_revoked", "The token or its API key was revoked.", headers=_bearer("invalid_token"))
        if caller.account_id in revoked.accounts:
            raise Problem("account_suspended", "This account may not use the service at present.")
        return caller

    def parse(self, token: str) -> Caller:
        """The caller of a token that we signed. Raises Problem invalid_token or token_expired."""
        known = self._parsed.get(token)
        if known is not None and known.expires_at.timestamp() > time.time():
            return known
        caller = self._parse(token)
        if len(self._parsed) >= REMEMBERED:
            self._parsed.clear()
        self._parsed[token] = caller
        return caller

    def _parse(self, token: str) -> Caller:
        if len(token) > 1000 or not token.isascii():
            raise Problem(
                "invalid_token", "The token was not issued by this service.", headers=_bearer("invalid_token")
            )
        try:
            claims, issued_at = self._serializer.loads(token, max_age=VALID, return_timestamp=True)
        except SignatureExpired:
            raise Problem("token_expired", "The token's 24 hours are over.", headers=_bearer("invalid_token")) from None
        except BadSignature:
            raise _not_ours() from None
        return Caller(
            account_id=claims["a"],
            key_id=claims["k"],
            test=claims["t"],
            scopes=frozenset(claims["s"]),
            token_id=claims["i"],
            expires_at=issued_at + timedelta(seconds=VALID),
        )

    def revoke(self, caller: Caller) -> None:
        """Make a token dead here at once, and within two seconds everywhere."""
        with self._engine.begin() as connection:
            connection.execute(REVOKE, {"id": caller.token_id, "expires_at": caller.expires_at})
        self._read_at = float("-inf")

    def revocations(self) -> Revocations:
        """What was taken back, at most two seconds old. One thread reads it; the others do not wait for it."""
        if time.monotonic() - self._read_at > FRESH and self._lock.acquire(blocking=self._read_at == float("-inf")):
            try:
                if time.monotonic() - self._read_at > FRESH:
                    self._revocations = self._load()
                    self._read_at = time.monotonic()
            finally:
                self._lock.release()
        return self._revocations

    def _load(self) -> Revocations:
        with self._engine.connect() as connection:
            return Revocations(
                frozenset(connection.execute(REVOKED).scalars()),
                frozenset(connection.execute(DEAD_KEYS).scalars()),
                frozenset(connection.execute(CLOSED_ACCOUNTS).scalars()),
            )


def storable(value: str) -> bool:
    """Whether a text can be compared in the database: short, and without NUL or half a surrogate pair."""
    return len(value) <= 200 and value.isprintable()


def _not_ours() -> Problem:
    return Problem("invalid_token", "The token was not issued by this service.", headers=_bearer("invalid_token"))


def _bearer(error: str) -> dict[str, str]:
    return {"WWW-Authenticate": f'{BEARER["WWW-Authenticate"]}, error="{error}"'}
