"""An erasure and retention that meet in one send wait for each other, and both are done."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from shared.db.connection import reading
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.integration.privacy.test_privacy import OTHER, PERSON, where, work
from worker.jobs import erasure
from worker.jobs.retention import forget


def test_retention_waits_for_an_erasure_in_the_same_send(alone: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    alone.bulk([PERSON, OTHER])
    alone.deliver_receipts()
    asked = alone.post("/erasures", phone=PERSON).json["erasure_id"]
    forgotten: list[int] = []
    forgetting = Thread(
        target=lambda: forgotten.append(forget(alone.engine, 30, datetime.now(UTC) + timedelta(days=40)))
    )
    rewrite = erasure._rewrite

    def rewrite_then_meet(*of_batch: Any) -> list[UUID]:
        messages = rewrite(*of_batch)
        forgetting.start()
        wait_until_somebody_waits(alone.engine)
        return messages

    monkeypatch.setattr(erasure, "_rewrite", rewrite_then_meet)
    work(alone)
    join_all(forgetting)
    with reading(alone.engine) as connection:
        assert connection.execute(text("SELECT * FROM job_failure")).all() == []
    assert forgotten == [1]
    assert alone.get(f"/erasures/{asked}").json["status"] == "completed"
    assert where(alone.engine, PERSON) <= {"idempotency"}
