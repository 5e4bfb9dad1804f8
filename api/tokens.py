"""Bearer tokens: signed, valid 24 hours, revocable.

A token carries its account, its key and what the key may, signed with SECRET_KEY, so that reading one costs no look-up.
What could have been taken back since (the token, its key, its secret, its account) is read from the database every two
seconds.
"""

import secrets
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer
from sqlalchemy import Engine, Row, text
from sqlalchemy.exc import SQLAlchemyError

from api.loop import in_the_background, is_on_the_loop
from api.problems import Problem
from shared.database import reading
from shared.keys import Network, hash_secret, is_within, networks, same
from shared.limits import NONE, Limits, all_limits

VALID = 86_400
"""Seconds."""
FRESH = 2.0
"""Seconds after which revocations are read again."""
MOST_OLD = 3.0
"""Seconds for which they are used while somebody reads them again in the background."""
USED_EVERY = 60.0
"""Seconds for which the use of a key need not be noted again."""
REMEMBERED = 10_000
"""Tokens whose signature need not be computed again."""
IN_SANDBOX = 2
"""What the tokens of test keys say. Those from before there were sandboxes say `true`, and name the live account."""
BEARER = {"WWW-Authenticate": 'Bearer realm="bulksms"'}

KEY = text(
    """
    SELECT k.account_id, k.secret_hash, a.sandbox_of IS NOT NULL AS test, k.scopes, k.allowed_ips,
           k.requests_per_second, k.generation,
           CASE WHEN k.previous_until > now() THEN k.previous_hash END AS previous_hash, a.state
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
OLDEST = text(
    """
    SELECT id, generation - CASE WHEN previous_until > now() THEN 1 ELSE 0 END FROM api_key
     WHERE previous_until > now() - interval '25 hours'
    """
)
USED = text(
    """
    UPDATE api_key SET last_used_at = now()
     WHERE id = :id AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => :seconds))
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
    networks: tuple[Network, ...] = ()
    """Where the key may be used from; empty is everywhere."""
    rate: int | None = None
    """Requests per second that the key may make, where it has a limit of its own."""
    generation: int = 0
    """Of the secret that the token was got with: how often the key had been rotated."""


@dataclass(frozen=True, slots=True)
class Revocations:
    """What was taken back, and what accounts are limited to, as of one moment."""

    tokens: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    accounts: frozenset[int] = frozenset()
    oldest: dict[str, int] = field(default_factory=dict)
    """The oldest generation that is alive, of keys that were rotated lately."""
    limits: dict[int, Limits] = field(default_factory=dict)
    """Of the accounts that have any of their own."""


class Tokens:
    """Issues, reads and revokes tokens for one installation."""

    def __init__(self, engine: Engine, secret_key: str) -> None:
        self._engine = engine
        self._pepper = secret_key
        self._serializer = URLSafeTimedSerializer(secret_key, salt="access-token")
        self._parsed: dict[str, Caller] = {}
        self._revocations = Revocations()
        self._read_at = float("-inf")
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def issue(self, api_key: str, api_secret: str, address: str) -> tuple[str, Caller]:
        """A new token for a key and its secret, asked for from an address.

        Raises Problem invalid_credentials, ip_not_allowed or account_suspended.
        """
        with reading(self._engine) as connection:
            row = connection.execute(KEY, {"key": api_key}).one_or_none() if storable(api_key) else None
        generation = self._generation(row, api_secret)
        if row is None or generation is None:
            raise Problem("invalid_credentials", "The API key or the secret is wrong.", headers=BEARER)
        if row.allowed_ips and not is_within(address, networks(row.allowed_ips)):
            raise ip_not_allowed(address)
        if row.state == "suspended":
            raise Problem("account_suspended", "This account may not use the service at present.")
        token_id = secrets.token_urlsafe(12)
        claims = {
            "a": row.account_id,
            "k": api_key,
            "t": IN_SANDBOX if row.test else False,
            "s": sorted(row.scopes),
            "i": token_id,
        }
        more = {"n": row.allowed_ips, "r": row.requests_per_second, "g": generation}
        claims |= {name: value for name, value in more.items() if value}
        token = str(self._serializer.dumps(claims))
        return token, _caller(claims, datetime.now(UTC).replace(microsecond=0))

    def _generation(self, row: Row[Any] | None, api_secret: str) -> int | None:
        """That of the secret, where it is a live one; takes as long where there is no key."""
        given = hash_secret(api_secret, self._pepper)
        current = same(bytes(row.secret_hash if row is not None else bytes(32)), given)
        previous = same(bytes((row.previous_hash if row is not None else None) or bytes(32)), given)
        if row is None or not (current or previous):
            return None
        return int(row.generation) if current else int(row.generation) - 1

    def read(self, header: str | None) -> Caller:
        """The caller that an Authorization header names. Raises Problem for every 401, and account_suspended."""
        scheme, _, token = (header or "").partition(" ")
        token = token.strip(" ")
        if scheme.lower() != "bearer" or not token:
            raise Problem("missing_token", "The request has no bearer token.", headers=BEARER)
        caller = self.parse(token)
        revoked = self.revocations()
        key = caller.key_id
        if caller.token_id in revoked.tokens or key in revoked.keys or caller.generation < revoked.oldest.get(key, 0):
            raise Problem("token_revoked", "The token or its API key was revoked.", headers=_bearer("invalid_token"))
        if caller.account_id in revoked.accounts:
            raise Problem("account_suspended", "This account may not use the service at present.")
        if self._used.get(key, 0.0) < time.monotonic():
            self._note_use(key)
        return caller

    def _note_use(self, key: str) -> None:
        """Let the key show when it was used last: at most once a minute, and never at the cost of the request."""
        if len(self._used) >= REMEMBERED:
            self._used.clear()
        self._used[key] = time.monotonic() + USED_EVERY
        try:
            with self._engine.begin() as connection:
                connection.execute(USED, {"id": key, "seconds": USED_EVERY - 10})
        except SQLAlchemyError:
            pass
        except BaseException:
            del self._used[key]  # so that the next one notes it
            raise

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
        return _caller(claims, issued_at)

    def revoke(self, caller: Caller) -> None:
        """Make a token dead here at once, and within two seconds everywhere."""
        with self._engine.begin() as connection:
            connection.execute(REVOKE, {"id": caller.token_id, "expires_at": caller.expires_at})
        self.look_again()

    def limits_of(self, account_id: int) -> Limits:
        """The account's limits, as old as what `read` knows of its tokens."""
        return self._revocations.limits.get(account_id, NONE)

    def look_again(self) -> None:
        """Read what was taken back before the next request is answered: something was, in this process."""
        self._read_at = float("-inf")

    def revocations(self) -> Revocations:
        """What was taken back, at most two seconds old. One thread reads it; the others do not wait for it."""
        age = time.monotonic() - self._read_at
        if age > FRESH and self._lock.acquire(blocking=age == float("inf")):
            if is_on_the_loop() and age < MOST_OLD:
                in_the_background(self._read_again)
            else:
                self._read_again()
        return self._revocations

    def _read_again(self) -> None:
        """Whoever calls this has the lock."""
        try:
            if time.monotonic() - self._read_at > FRESH:
                self._revocations = self._load()
                self._read_at = time.monotonic()
        finally:
            self._lock.release()

    def _load(self) -> Revocations:
        with reading(self._engine) as connection:
            return Revocations(
                frozenset(connection.execute(REVOKED).scalars()),
                frozenset(connection.execute(DEAD_KEYS).scalars()),
                frozenset(connection.execute(CLOSED_ACCOUNTS).scalars()),
                {row.id: row[1] for row in connection.execute(OLDEST)},
                all_limits(connection),
            )


def storable(value: str) -> bool:
    """Whether a text can be compared in the database: short, and without NUL or half a surrogate pair."""
    return len(value) <= 200 and value.isprintable()


def ip_not_allowed(address: str) -> Problem:
    """A 403."""
    return Problem("ip_not_allowed", f"The API key may not be used from {address or 'this address'}.")


def _caller(claims: dict[str, Any], issued_at: datetime) -> Caller:
    if claims["t"] not in (False, IN_SANDBOX):
        raise _not_ours()
    return Caller(
        account_id=claims["a"],
        key_id=claims["k"],
        test=claims["t"] == IN_SANDBOX,
        scopes=frozenset(claims["s"]),
        token_id=claims["i"],
        expires_at=issued_at + timedelta(seconds=VALID),
        networks=networks(claims.get("n")),
        rate=claims.get("r"),
        generation=claims.get("g", 0),
    )


def _not_ours() -> Problem:
    return Problem("invalid_token", "The token was not issued by this service.", headers=_bearer("invalid_token"))


def _bearer(error: str) -> dict[str, str]:
    return {"WWW-Authenticate": f'{BEARER["WWW-Authenticate"]}, error="{error}"'}
