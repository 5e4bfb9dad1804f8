"""How old a cached value may be."""

from types import SimpleNamespace
from typing import Any

import pytest

from api import account_cache
from api.account_cache import GRACE_SECONDS, AccountCache


def test_a_value_is_served_no_longer_than_its_grace_while_it_is_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask meanwhile."""
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(account_cache, "time", clock)
    cache = AccountCache(None)  # type: ignore[arg-type]
    key, ttl = ("sender", 7, "ACME"), 1.5
    served: list[Any] = []

    def hangs() -> str:
        for late in (0.1, GRACE_SECONDS - 0.01, GRACE_SECONDS + 0.01, GRACE_SECONDS + 0.4):
            clock.monotonic = lambda late=late: ttl + late
            served.append(cache._get(key, ttl, lambda: "new"))
        return "late"

    assert cache._get(key, ttl, lambda: "old") == "old"
    clock.monotonic = lambda: ttl + 0.01
    assert cache._get(key, ttl, hangs) == "late"
    assert served == ["old", "old", "new", "new"]
