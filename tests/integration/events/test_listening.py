"""Who has begun to listen misses nothing: every process knows of it by then."""

import time
from types import SimpleNamespace

import pytest

from shared import outbox
from shared.db.connection import make_engine
from tests.harness.service import Service


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time passes only while somebody sleeps: for so many seconds each time."""
    now, slept = [time.monotonic()], []

    def sleep(seconds: float) -> None:
        now[0] += seconds
        slept.append(seconds)

    monkeypatch.setattr(outbox, "CACHE_SECONDS", 1.0)
    monkeypatch.setattr(outbox, "MARGIN_SECONDS", 0.2)
    monkeypatch.setattr(outbox, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    return slept


@pytest.mark.usefixtures("sleeps")
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


def test_who_listens_waits_only_once_after_the_clock_of_the_database_was_set_back(
    service: Service, sleeps: list[float]
) -> None:
    outbox.listen(service.engine, service.account_id)
    service.execute("UPDATE listener SET pulled_at = pulled_at + interval '2 hours'")
    outbox.listen(service.engine, service.account_id)
    # The clock of the database does not pass while this one sleeps.
    service.execute("UPDATE listener SET pulled_at = pulled_at - CAST(:slept AS interval)", slept="2 s")
    del sleeps[:]
    outbox.listen(service.engine, service.account_id)
    assert sleeps == []
