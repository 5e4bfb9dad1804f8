"""Bearer tokens: signed, valid 24 hours, revocable.

A token carries its account, its key and the key's permissions, signed with SECRET_KEY, so verifying one needs no
database query. Revocations of tokens, keys, secrets and accounts are read from the database every two seconds.
"""

import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from api.auth.api_keys import find_live_key, note_use, rehash, verify_secret
from api.auth.caller import Caller as Caller
from api.auth.caller import Membership
from api.auth.revocations import Revocations, read_revocations
from api.auth.token_claims import VALID as VALID
from api.auth.token_claims import VALID_FOR_PEOPLE, caller_of, claims_of_person
from api.event_loop import in_background, is_on_event_loop, require_thread
from api.problems import Problem
from shared.accounts.limits import NONE, Limits
from shared.api_key import is_within, networks
from shared.people.random_secrets import SESSION

FRESH = 2.0
"""Seconds after which the revocations are refreshed."""
MAX_AGE_SECONDS = 4.0
"""Older ones are not used: requests wait until they are refreshed. A revocation is noticed within five seconds."""
USED_EVERY = 60.0
"""Seconds between updates of a key's `last_used_at`."""
MAX_CACHED_TOKENS = 10_000
"""Verified tokens in the cache."""
MAX_AHEAD_SECONDS = 3_600
"""How far the clock of the host that issued a token may be ahead. Tokens that are dated later could outlive what is
known of their revocation."""
MAX_LENGTH = 4_096
"""Characters of a token, also of one for a key with MAX_NETWORKS networks."""
BEARER = {"WWW-Authenticate": 'Bearer realm="bulksms"'}


class Tokens:
    """Issues, reads and revokes tokens for one installation."""

    def __init__(self, engine: Engine, secret_key: str, fallbacks: Sequence[str] = ()) -> None:
        self._engine = engine
        self._peppers = (secret_key, *fallbacks)
        self._serializer = URLSafeTimedSerializer([*fallbacks, secret_key], salt="access-token")  # signs with the last
        self._parsed: dict[str, Caller] = {}
        self._revocations = Revocations()
        self._read_at = self._failed_at = float("-inf")
        self._is_refreshing = False
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def issue(self, api_key: str, api_secret: str, address: str) -> tuple[str, Caller]:
        """Issue a token for a key and its secret to a client at `address`.

        Raises Problem invalid_credentials, ip_not_allowed or account_suspended.
        """
        row = find_live_key(self._engine, api_key)
        generation = verify_secret(row, api_secret, self._peppers)
        if row is None or generation is None:
            raise Problem("invalid_credentials", "The API key or secret is wrong.", headers=BEARER)
        if row.allowed_ips and not is_within(address, networks(row.allowed_ips)):
            raise ip_not_allowed(address)
        if row.state in ("suspended", "closed"):
            raise Problem("account_suspended", "This account may not use the service at the moment.")
        rehash(self._engine, api_key, api_secret, row, self._peppers)
        claims = {
            "a": row.account_id,
            "k": api_key,
            "t": row.sandbox_of is not None,
            "s": sorted(row.scopes),
        }
        optional = {"n": row.allowed_ips, "r": row.requests_per_second, "g": generation}
        claims |= {name: value for name, value in optional.items() if value}
        return self._sign(claims)

    def issue_to_person(
        self, person: str, membership: Membership, scopes: Iterable[str], account_id: int, *, test: bool
    ) -> tuple[str, Caller]:
        """Issue a token to a person, `person <uuid>`, for an account or a sandbox. The caller has checked everything.

        It ends with the session and with any change of the membership.
        """
        return self._sign(claims_of_person(person, membership, scopes, account_id, test=test))

    def _sign(self, claims: dict[str, Any]) -> tuple[str, Caller]:
        claims["i"] = secrets.token_urlsafe(12)
        token = str(self._serializer.dumps(claims))
        return token, caller_of(claims, datetime.now(UTC).replace(microsecond=0))

    def read(self, header: str | None) -> Caller:
        """Authenticate an Authorization header. Raises Problem for every 401, and account_suspended."""
        caller = self.parse(need_token(header))
        revoked = self.revocations()
        if _is_revoked(caller, revoked):
            raise Problem(
                "token_revoked", "The token or its API key was revoked.", headers=bearer_error("invalid_token")
            )
        if caller.account_id in revoked.accounts:
            raise Problem("account_suspended", "This account may not use the service at the moment.")
        if caller.membership is None and self._used.get(caller.key_id, 0.0) < time.monotonic():
            self._note_use(caller.key_id)
        return caller

    def signed(self, header: str | None) -> Caller | None:
        """Authenticate an Authorization header with the revocations in memory; None if `read` would refuse it.

        Never blocks.
        """
        token = bearer_token(header)
        if not token:
            return None
        try:
            caller = self.parse(token)
        except Problem:
            return None
        revoked = self._revocations
        return None if _is_revoked(caller, revoked) or caller.account_id in revoked.accounts else caller

    def _note_use(self, key: str) -> None:
        """Update the key's `last_used_at`, at most once a minute. A database error does not fail the request."""
        if len(self._used) >= MAX_CACHED_TOKENS:
            self._used.clear()
        self._used[key] = time.monotonic() + USED_EVERY
        try:
            note_use(self._engine, key)
        except SQLAlchemyError:
            pass
        except BaseException:
            self._used.pop(key, None)  # so that the next request tries again
            raise

    def parse(self, token: str) -> Caller:
        """Verify a token's signature and return its caller. Raises Problem invalid_token or token_expired."""
        cached = self._parsed.get(token)
        if cached is not None and cached.expires_at.timestamp() > time.time():
            return cached
        caller = self._parse(token)
        if len(self._parsed) >= MAX_CACHED_TOKENS:
            self._parsed.clear()
        self._parsed[token] = caller
        return caller

    def _parse(self, token: str) -> Caller:
        try:
            claims, issued_at = verified_claims(self._serializer, token)
        except BadSignature:
            raise _not_ours(token) from None
        caller = caller_of(claims, issued_at)
        if caller.expires_at.timestamp() <= time.time():
            raise _expired("24 hours" if caller.membership is None else f"{VALID_FOR_PEOPLE // 60} minutes")
        return caller

    def revoke(self, caller: Caller) -> None:
        """Revoke a token, in this process at once and in all others within a few seconds.

        Raises Problem rate_limited if its key or account has too many revoked tokens.
        """
        self._revocations.tokens.revoke(self._engine, caller)

    def limits_of(self, account_id: int) -> Limits:
        """The account's limits, as of the last read of the revocations."""
        return self._revocations.limits.get(account_id, NONE)

    def reload(self) -> None:
        """Refresh the revocations after this process has changed them, without blocking other threads' requests."""
        with self._lock:
            try:
                self._read()
            except SQLAlchemyError:
                self._read_at = float("-inf")

    def known_revocations(self) -> Revocations:
        """The revocations in memory, however old. Never blocks."""
        return self._revocations

    def revocations(self) -> Revocations:
        """The revocations, refreshed every two seconds by one thread.

        Meanwhile the others use the previous ones, if these are not too old; otherwise they wait. Raises NeedsThread on
        the event loop if it would have to wait, and Problem unavailable after waiting in vain.
        """
        now = time.monotonic()
        age = now - self._read_at
        if age > FRESH:
            if not is_on_event_loop():
                self._refresh(now, wait=age >= MAX_AGE_SECONDS)
            elif age >= MAX_AGE_SECONDS:
                require_thread()
            elif not self._is_refreshing:
                self._is_refreshing = True
                in_background(self._refresh_for_event_loop)
        return self._revocations

    def _refresh_for_event_loop(self) -> None:
        try:
            self._refresh(time.monotonic(), wait=False)
        finally:
            self._is_refreshing = False

    def _refresh(self, now: float, *, wait: bool) -> None:
        """Refresh if still needed, for a caller that came `now`. `wait` if another thread is doing so, or return.

        Raises Problem unavailable if that thread failed: all who wait would otherwise try in turn, each until its
        timeout, while the database is away.
        """
        if not self._lock.acquire(blocking=wait):
            return
        try:
            oldest = MAX_AGE_SECONDS if wait else FRESH
            if time.monotonic() - self._read_at >= oldest and self._read_at < now:
                if self._failed_at > now:
                    raise Problem("unavailable", "The database did not respond in time.", headers={"Retry-After": "2"})
                self._read()
        finally:
            self._lock.release()

    def _read(self) -> None:
        began = time.monotonic()
        try:
            self._revocations = read_revocations(self._engine, self._revocations)
        except SQLAlchemyError:
            self._failed_at = time.monotonic()
            raise
        self._read_at = began


def verified_claims(serializer: URLSafeTimedSerializer, token: str) -> tuple[dict[str, Any], datetime]:
    """A token's claims, and when it was issued. Raises BadSignature if it is not ours, or is dated too far ahead."""
    if len(token) > MAX_LENGTH or not token.isascii():
        raise BadSignature("too long, or not ASCII")
    claims, issued_at = serializer.loads(token, return_timestamp=True)
    if issued_at.timestamp() > time.time() + MAX_AHEAD_SECONDS:
        raise BadSignature("dated too far ahead")
    return claims, issued_at


def _is_revoked(caller: Caller, revoked: Revocations) -> bool:
    """Whether the caller's token was revoked, or with its key, secret, session or membership."""
    key = caller.key_id
    if caller.membership is not None:
        account_id, version, session_id = caller.membership
        if session_id in revoked.sessions or version < revoked.members.get((account_id, key), 0):
            return True
    if caller.token_id in revoked.tokens.ends or key in revoked.keys:
        return True
    return caller.generation < revoked.oldest.get(key, 0)


def ip_not_allowed(address: str) -> Problem:
    """The 403 for a client outside the key's `allowed_ips`."""
    return Problem("ip_not_allowed", f"This key may not be used from {address or 'this address'}.")


def _expired(validity: str) -> Problem:
    detail = f"The token has expired: it was valid for {validity}."
    return Problem("token_expired", detail, headers=bearer_error("invalid_token"))


def bearer_token(header: str | None) -> str:
    """The token of an Authorization header; empty without one."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""


def need_token(header: str | None) -> str:
    """The token of an Authorization header. Raises Problem missing_token without one."""
    token = bearer_token(header)
    if not token:
        raise Problem("missing_token", "The request has no bearer token.", headers=BEARER)
    return token


def _not_ours(token: str) -> Problem:
    detail = "The token was not issued by this service."
    if token.startswith(SESSION):
        detail = "This is the token of a session: get one for an account with POST /api/v1/me/token."
    if token.startswith(("smsk_", "smss_")):
        kind = "an API key" if token.startswith("smsk_") else "an API key's secret"
        detail = f"This is {kind}, not a token: get one with POST /api/v1/auth/token, and send its `access_token`."
    return Problem("invalid_token", detail, headers=bearer_error("invalid_token"))


def bearer_error(error: str) -> dict[str, str]:
    """The header of a 401 that says what is wrong with a token (RFC 6750 §3)."""
    return {"WWW-Authenticate": f'{BEARER["WWW-Authenticate"]}, error="{error}"'}
