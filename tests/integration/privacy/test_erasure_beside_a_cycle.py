"""An erasure that waits for the end of a cycle sees what the cycle has written."""

from datetime import UTC, datetime
from threading import Thread

import pytest

import worker.sending.settle_rest
from shared.carriers.receipts import Receipt
from shared.lifecycle import MessageStatus
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.integration.privacy.test_privacy import PERSON, where, work
from tests.integration.receipts.test_receipts import CARRIER, end, under_way
from worker.receipts.match import record


def test_a_message_that_becomes_in_doubt_is_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its doubt holds the phone, and is resolved by a receipt for it."""
    batch = under_way(service, PERSON)
    erasure = service.post("/erasures", phone=PERSON).json["erasure_id"]
    erasing = Thread(target=lambda: work(service))

    def before_commit(name: str) -> None:
        if name == "settle_rest.before_commit":
            erasing.start()
            wait_until_somebody_waits(service.engine)

    monkeypatch.setattr(worker.sending.settle_rest, "crashpoint", before_commit)
    end(service, batch, MessageStatus.IN_DOUBT)
    join_all(erasing)
    assert service.get(f"/erasures/{erasure}").json["status"] == "pending"
    record(service.engine, CARRIER, [Receipt("r9", MessageStatus.DELIVERED, None, datetime.now(UTC), PERSON)])
    service.sweep()
    assert service.counts(str(batch.send_id))["delivered"] == 1
    work(service)
    assert service.get(f"/erasures/{erasure}").json["status"] == "completed"
    assert where(service.engine, PERSON) <= {"erasure"}
