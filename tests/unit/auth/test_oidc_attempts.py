"""An attempt to sign in through the provider is valid for ten minutes, whichever host began it."""

import time
from types import SimpleNamespace

import pytest

from api.auth import oidc_attempts
from api.auth.oidc_attempts import VALID, OidcAttempts


@pytest.mark.parametrize(
    ("later", "is_valid"),
    [(-3_600, True), (-90, True), (0, True), (VALID.seconds - 60, True), (VALID.seconds + 60, False)],
)
def test_hosts_whose_clocks_differ(monkeypatch: pytest.MonkeyPatch, later: int, is_valid: bool) -> None:
    attempts = OidcAttempts("s" * 32)
    attempt, sealed, _ = attempts.begin()
    now = time.time()
    monkeypatch.setattr(oidc_attempts, "time", SimpleNamespace(time=lambda: now + later))
    assert attempts.read(sealed, attempt.state) == (attempt if is_valid else None)
