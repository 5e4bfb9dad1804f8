"""Bearer tokens of the operator API: signed, short-lived, and never valid on the API of customers, or the reverse.

A token is issued for an operator key, or for a person who signed in. Like those of API keys (api/auth/tokens.py), it
is verified without a query, and revocations are read every two seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import Engine

from api.auth.api_keys import is_storable
from api.auth.revocations import Revocations
from api.auth.tokens import BEARER, Tokens, bearer_error, bearer_token, ip_not_allowed, need_token, verified_claims
from api.problems import Problem
from shared.accounts.operator_keys import MAX_TOKEN_SECONDS, active_key, actor_of_key, note_use
from shared.api_key import DIGEST_BYTES, Network, hash_secret, is_within, matches, networks
from shared.db.connection import reading

INSTALLATION = 0
"""The account of operators' idempotency keys: no account has this id."""


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator key or person behind a request to the operator API, and their token."""

    account_id: ClassVar[int] = INSTALLATION
    actor: str
    """As the audit log names it: `operator key opk_…` or `person <uuid>`."""
    scopes: frozenset[str]
    issued_at: datetime
    expires_at: datetime
    ends_with: tuple[str, ...] = ()
    """Further holders, such as a session, with whose revocation the token ends."""
    networks: tuple[Network, ...] = ()
    """Networks that the token may be used from; empty means anywhere."""

    @property
    def made_by(self) -> str:
        """Who may get the stored response to a request again."""
        return self.actor


class OperatorTokens:
    """Issues and reads the operator tokens of one installation."""

    def __init__(self, engine: Engine, secret_key: str, fallbacks: Sequence[str], tokens: Tokens) -> None:
        """`tokens` knows the revocations of all tokens."""
        self._engine = engine
        self._peppers = (secret_key, *fallbacks)
        self._serializer = URLSafeTimedSerializer([*fallbacks, secret_key], salt="operator-token")
        self._tokens = tokens

    def issue(
        self,
        actor: str,
        scopes: Iterable[str],
        seconds: int,
        *,
        ends_with: Sequence[str] = (),
        allowed_ips: Sequence[str] | None = None,
    ) -> tuple[str, Operator]:
        """Issue a token, valid for `seconds`, at most an hour. The caller has checked that the actor has the scopes.

        It ends early when `revoke_operator_tokens` of shared/accounts/operator_keys.py is called for the actor or for
        a name in `ends_with`, and is of no use if that was called before.
        """
        if not 0 < seconds <= MAX_TOKEN_SECONDS:
            raise ValueError(f"an operator's token is valid for 1 to {MAX_TOKEN_SECONDS} seconds, not {seconds}")
        claims = {"w": actor, "s": sorted(scopes), "v": seconds}
        claims |= {"e": list(ends_with)} if ends_with else {}
        claims |= {"n": list(allowed_ips)} if allowed_ips else {}
        return str(self._serializer.dumps(claims)), _operator(claims, datetime.now(UTC).replace(microsecond=0))

    def exchange(self, key: str, secret: str, address: str) -> tuple[str, Operator]:
        """Issue a token for an operator key and its secret to a client at `address`.

        Raises Problem invalid_credentials or ip_not_allowed.
        """
        with reading(self._engine) as connection:
            found = active_key(connection, key) if is_storable(key) else None
        stored = bytes(found.secret_hash) if found is not None else bytes(DIGEST_BYTES)
        wrong = Problem("invalid_credentials", "The operator key or secret is wrong.", headers=BEARER)
        if not matches(stored, secret, self._peppers) or found is None:
            raise wrong
        if found.allowed_ips and not is_within(address, networks(found.allowed_ips)):
            raise ip_not_allowed(address)
        seconds = MAX_TOKEN_SECONDS
        if found.expires_at is not None:
            seconds = min(seconds, max(1, int((found.expires_at - datetime.now(UTC)).total_seconds())))
        with self._engine.begin() as connection:
            if not note_use(connection, key, hash_secret(secret, self._peppers[0])):
                raise wrong
        return self.issue(actor_of_key(key), found.scopes, seconds, allowed_ips=found.allowed_ips)

    def read(self, header: str | None) -> Operator:
        """Authenticate an Authorization header. Raises Problem for every 401."""
        operator = self._parse(need_token(header))
        if operator.expires_at <= datetime.now(UTC):
            raise Problem("token_expired", "The token has expired.", headers=bearer_error("invalid_token"))
        if _is_revoked(operator, self._tokens.revocations()):
            detail = "The token, its operator key or its session was revoked."
            raise Problem("token_revoked", detail, headers=bearer_error("invalid_token"))
        return operator

    def signed(self, header: str | None) -> Operator | None:
        """Authenticate an Authorization header with the revocations in memory; None if `read` would refuse it.

        Never blocks.
        """
        token = bearer_token(header)
        try:
            operator = self._parse(token) if token else None
        except Problem:
            return None
        if operator is None or operator.expires_at <= datetime.now(UTC):
            return None
        return None if _is_revoked(operator, self._tokens.known_revocations()) else operator

    def _parse(self, token: str) -> Operator:
        """Verify a token's signature. Raises Problem invalid_token."""
        try:
            claims, issued_at = verified_claims(self._serializer, token)
        except BadSignature:
            detail = "This is not a token of the operator API: get one with POST /operator/v1/auth/token."
            raise Problem("invalid_token", detail, headers=bearer_error("invalid_token")) from None
        return _operator(claims, issued_at)


def _operator(claims: dict[str, Any], issued_at: datetime) -> Operator:
    return Operator(
        actor=claims["w"],
        scopes=frozenset(claims["s"]),
        issued_at=issued_at,
        expires_at=issued_at + timedelta(seconds=claims["v"]),
        ends_with=tuple(claims.get("e", ())),
        networks=networks(claims.get("n")),
    )


def _is_revoked(operator: Operator, revoked: Revocations) -> bool:
    """Whether the operator's key or session has ended. Neither comes back, so it does not matter when this token was
    issued: that may even be later, if the exchange had found the key before it was revoked."""
    return not revoked.operators.isdisjoint((operator.actor, *operator.ends_with))
