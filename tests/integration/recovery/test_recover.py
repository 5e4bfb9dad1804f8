"""Batches whose worker is gone are recovered, whatever the clock of the database has done meanwhile."""

import pytest
from sqlalchemy import text

from tests.harness.service import Service
from tests.harness.times import ahead
from worker.recovery.recover import recover

CLAIMED = """
    UPDATE batch SET state = 'sending', epoch = epoch + 1, intent = 1, watermark = 1,
                     lease_until = clock_timestamp() + interval '{lease}'
     WHERE send_id = :send
"""


@pytest.mark.parametrize(
    ("lease", "recovered"), [("-1 second", True), ("1 second", False), ("100 seconds", False), ("59 minutes", True)]
)
def test_a_lease_is_over_when_it_has_ended_or_is_from_before_the_clock_was_set_back(
    service: Service, lease: str, recovered: bool
) -> None:
    send = service.send(send_at=ahead()).json["send_id"]
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'sending' WHERE id = :send"), {"send": send})
        connection.execute(text(CLAIMED.format(lease=lease)), {"send": send})
    assert bool(recover(service.engine, lambda test: "simulator")) is recovered
    assert service.counts(send).get("in_doubt", 0) == recovered
