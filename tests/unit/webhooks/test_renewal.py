"""The leases of webhooks are renewed however much other work waits for the database."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest

from worker.webhooks import deliver
from worker.webhooks.deliver import DATABASE_THREADS, Deliverer


def test_renewals_wait_for_no_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread of the others' work is occupied until all leases have been renewed."""
    hooks = [SimpleNamespace(id=uuid4(), epoch=1, state="active", rests=False) for _ in range(2 * DATABASE_THREADS)]
    unclaimed, renewed = [hooks], threading.Event()

    def renew(_: object, held: dict[UUID, int]) -> None:
        if held == {hook.id: hook.epoch for hook in hooks}:
            renewed.set()

    def read_work(*_: object) -> Any:
        renewed.wait(120)
        return SimpleNamespace(jobs=[Mock()])

    def claim(*_: object) -> list[SimpleNamespace]:
        return unclaimed.pop() if unclaimed else []

    record = Mock(return_value=None)  # nothing else is due
    store = Mock(claim=claim, read_work=read_work, record=record, renew=renew)
    monkeypatch.setattr(deliver, "store", store)
    monkeypatch.setattr(deliver, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(Deliverer, "_post_all", Mock(side_effect=lambda *_: asyncio.sleep(0)))
    deliverer = Deliverer(Mock(), Mock(), "x" * 40)

    async def run() -> bool:
        running = asyncio.create_task(deliverer.run())
        in_time = await asyncio.to_thread(renewed.wait, 60)
        renewed.set()
        deliverer.stop.set()
        await running
        return in_time

    assert asyncio.run(run())
