"""Short-lived tokens of the API, kept in memory until shortly before they expire."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")

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


class Cache(Generic[T]):
    """Values by key, the least recently used dropped first. `ends` says when a value expires."""

    def __init__(self, ends: Callable[[T], float]) -> None:
        self._ends = ends
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many values are kept."""
        return len(self._kept)

    def get(self, key: Hashable) -> T | None:
        """The value, if it may be used."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if time.monotonic() >= self._ends(found):
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return found

    def put(self, key: Hashable, value: T) -> T:
        """Keep a value."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > SIZE:
                self._kept.popitem(last=False)
        return value

    def drop(self, key: Hashable) -> None:
        """Forget a value."""
        with self._lock:
            self._kept.pop(key, None)

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._kept.clear()
