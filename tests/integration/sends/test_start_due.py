"""Scheduled sends start when they are due."""

import pytest
from sqlalchemy import text

from shared.sends import send_states
from tests.harness.service import Service
from tests.harness.times import ahead

DUE = text("UPDATE send SET send_at = now() WHERE id = ANY(CAST(:ids AS uuid[]))")
LOCK = text("SELECT FROM send WHERE id = :id FOR UPDATE")


def scheduled(service: Service, count: int) -> list[str]:
    """Sends that were scheduled for later, and are due."""
    sends = [service.send(send_at=ahead()).json["send_id"] for _ in range(count)]
    with service.engine.begin() as connection:
        connection.execute(DUE, {"ids": sends})
    return sends


def test_a_send_that_somebody_changes_keeps_no_other_from_starting(service: Service) -> None:
    changed, other = scheduled(service, 2)
    with service.engine.begin() as changing:
        changing.execute(LOCK, {"id": changed})
        with service.engine.begin() as connection:
            assert [str(row.id) for row in connection.execute(send_states.START_DUE)] == [other]
    with service.engine.begin() as connection:
        assert [str(row.id) for row in connection.execute(send_states.START_DUE)] == [changed]


def test_a_statement_starts_a_bounded_number(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled(service, 3)
    few = text(str(send_states.START_DUE).replace("LIMIT 10000", "LIMIT 2"))
    monkeypatch.setattr(send_states, "START_DUE", few)
    started = []
    for _ in range(3):
        with service.engine.begin() as connection:
            started.append(len(connection.execute(send_states.START_DUE).all()))
    assert started == [2, 1, 0]
