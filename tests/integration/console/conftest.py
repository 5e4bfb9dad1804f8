"""The `console` fixture: tests/harness/console.py says how to use it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from console.session import current
from tests.harness.console import Console, console_of


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch, patient_with_providers: None) -> None:
    """The console waits for the API, and the API for an OpenID Connect provider, as long as a slow machine needs."""
    for name in ("SIGN_IN_TIMEOUT", "METHODS_TIMEOUT"):
        monkeypatch.setattr(current, name, 60.0)


@pytest.fixture
def console(engine: Engine) -> Iterator[Console]:
    """A new account with the whole service and the console before it."""
    with console_of(engine) as made:
        made.lift_session_limits()
        yield made
