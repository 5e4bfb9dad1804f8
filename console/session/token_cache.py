"""Short-lived tokens of the API, kept in memory until shortly before they expire."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

SIZE = 10_000
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


class TokenCache:
    """Tokens by key, the least recently used dropped first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, AccountToken] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many tokens are kept."""
        return len(self._kept)

    def get(self, key: Hashable) -> AccountToken | None:
        """The token, if it may be used."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if time.monotonic() >= found.ends - RENEW_BEFORE:
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return found

    def put(self, key: Hashable, token: AccountToken) -> AccountToken:
        """Keep a token."""
        with self._lock:
            self._kept[key] = token
            self._kept.move_to_end(key)
            while len(self._kept) > SIZE:
                self._kept.popitem(last=False)
        return token

    def drop(self, key: Hashable) -> None:
        """Forget a token."""
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> None:
        """Forget all tokens."""
        with self._lock:
            self._kept.clear()
