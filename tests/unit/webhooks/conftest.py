"""Patience with receivers, and the end of those that are started here."""

import threading
from collections.abc import Iterator

import pytest

from worker.webhooks import client


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a test of a limit has a short one."""
    for limit in ("RESPONSE_SECONDS", "OPENING_SECONDS", "BODY_SECONDS"):
        monkeypatch.setattr(client, limit, 120.0)


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Set at the end of the test."""
    made = threading.Event()
    yield made
    made.set()
