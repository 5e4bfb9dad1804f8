"""The claims of access tokens, and the caller that they describe."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from api.auth.caller import Caller, Membership
from shared.api_key import networks

VALID = 86_400
"""Seconds."""
VALID_FOR_PEOPLE = 600
"""Seconds for which the token of a person is valid. Their session gets another one at any time."""


def claims_of_person(
    person: str, membership: Membership, scopes: Iterable[str], account_id: int, *, test: bool
) -> dict[str, Any]:
    """The claims of a person, `person <uuid>`, in an account; `test` if it is a sandbox."""
    return {
        "a": account_id,
        "k": person,
        "t": test,
        "s": sorted(scopes),
        "m": membership,
        "v": VALID_FOR_PEOPLE,
    }


def caller_of(claims: dict[str, Any], issued_at: datetime) -> Caller:
    """The caller of a token with these claims."""
    return Caller(
        account_id=claims["a"],
        key_id=claims["k"],
        test=claims["t"],
        scopes=frozenset(claims["s"]),
        token_id=claims["i"],
        expires_at=issued_at + timedelta(seconds=claims.get("v", VALID)),
        networks=networks(claims.get("n")),
        rate=claims.get("r"),
        generation=claims.get("g", 0),
        membership=Membership(*claims["m"]) if "m" in claims else None,
    )
