"""The `console` fixture: tests/harness/console.py says how to use it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.harness.console import Console, console_of


@pytest.fixture
def console(engine: Engine) -> Iterator[Console]:
    """A new account with the whole service and the console before it."""
    with console_of(engine) as made:
        made.lift_session_limits()
        yield made
