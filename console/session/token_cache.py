"""Short-lived tokens of the API, kept in memory until shortly before they expire."""

import hashlib
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

SIZE = 10_000
"""Tokens in one process. When there are as many, all are forgotten."""
RENEW_BEFORE = 60.0
"""Seconds before its end at which a token is not used any more."""


class AccountToken(NamedTuple):
    """A person's token for an account or its sandbox."""

    token: str
    scopes: frozenset[str]
    ends: float
    """On the monotonic clock."""


def account_token(response: Mapping[str, Any]) -> AccountToken:
    """The token that the API gave."""
    return AccountToken(
        token=str(response["access_token"]),
        scopes=frozenset(str(response["scope"]).split()),
        ends=time.monotonic() + float(response["expires_in"]),
    )


def digest(secret: str) -> str:
    """The digest that stands for a session token in the keys of a cache."""
    return hashlib.sha256(secret.encode()).hexdigest()
