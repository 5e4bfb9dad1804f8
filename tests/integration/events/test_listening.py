"""Who has begun to listen misses nothing: every process knows of it by then."""

import time
from types import SimpleNamespace

import pytest

from shared import outbox
from shared.db.connection import make_engine
from tests.harness.service import Service


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes only while somebody sleeps."""
    now = [time.monotonic()]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(outbox, "CACHE_SECONDS", 1.0)
    monkeypatch.setattr(outbox, "MARGIN_SECONDS", 0.2)
    monkeypatch.setattr(outbox, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))


@pytest.mark.usefixtures("clock")
def test_a_process_that_has_just_looked_knows_a_new_listener_when_it_has_begun(service: Service) -> None:
    another = make_engine(service.settings.database_url, 1)
    try:
        with another.connect() as connection:
            assert service.account_id not in outbox.listening(connection)
        outbox.listen(service.engine, service.account_id)
        with another.connect() as connection:
            assert service.account_id in outbox.listening(connection)
    finally:
        another.dispose()
