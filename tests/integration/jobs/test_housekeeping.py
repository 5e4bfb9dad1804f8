"""When workers keep house."""

import pytest

import worker.sweeper
from tests.harness.service import Service


def test_one_worker_keeps_house_every_ten_minutes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[None] = []
    sweeper = service.worker.sweeper
    monkeypatch.setattr(worker.sweeper, "housekeeping", lambda engine: [lambda: kept.append(None)])
    service.execute("DELETE FROM lease WHERE name = 'housekeeping'")
    sweeper._keep_house_when_due()
    service.execute("UPDATE lease SET held_until = held_until - interval '9 minutes' WHERE name = 'housekeeping'")
    sweeper._keep_house_when_due()
    assert len(kept) == 1
    service.execute("UPDATE lease SET held_until = held_until - interval '1 minute' WHERE name = 'housekeeping'")
    sweeper._keep_house_when_due()
    assert len(kept) == 2
