"""Batches whose worker is gone are recovered, whatever the clock of the database has done meanwhile."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from shared.db.connection import STARTED
from shared.outbox import listen
from shared.sends.send_states import HOLD_POISONED
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.recovery.recover import recover
from worker.sending.claimed_batch import MAX_ATTEMPTS
from worker.sending.settle_rest import MAX_CRASHES, SETTLE_SECONDS

CLAIMED = """
    UPDATE batch SET state = 'sending', epoch = epoch + 1, intent = 1, watermark = 1,
                     lease_until = clock_timestamp() + interval '{lease}'
     WHERE send_id = :send
"""


@pytest.mark.parametrize(
    ("lease", "recovered"), [("-1 second", True), ("60 seconds", False), ("100 seconds", False), ("59 minutes", True)]
)
def test_a_lease_is_over_if_it_has_ended_or_is_older_than_a_clock_set_back(
    service: Service, lease: str, recovered: bool
) -> None:
    send = service.send(send_at=ahead()).json["send_id"]
    service.execute("UPDATE send SET state = 'sending' WHERE id = :send", send=send)
    service.execute(CLAIMED.format(lease=lease), send=send)
    assert bool(batches_recovered(service, send)) is recovered
    assert service.counts(send).get("in_doubt", 0) == recovered


def left_behind(service: Service, send: str, watermark: int) -> None:
    """The send's batch as a worker that has died leaves it, with so many messages that may have left."""
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'sending' WHERE id = :send"), {"send": send})
        claimed = CLAIMED.format(lease="-1 second").replace("watermark = 1", f"watermark = {watermark}")
        started = f"UPDATE batch SET database_started = {STARTED} WHERE send_id = :send"
        connection.execute(text(claimed), {"send": send})
        connection.execute(text(started), {"send": send})


def state_of(service: Service, send: str) -> str:
    return str(service.get(f"/sends/{send}").json["status"])


def batches_recovered(service: Service, send: str, resend_lanes: tuple[int, ...] = ()) -> int:
    """How many batches of the send a pass recovers. Leases of other tests may run out in between."""
    recovered = recover(service.engine, lambda test: "simulator", resend_lanes=resend_lanes)
    with service.engine.connect() as connection:
        of_send = connection.execute(text("SELECT id FROM batch WHERE send_id = :send"), {"send": send}).scalars()
        return len(set(recovered) & set(of_send))


def test_a_send_whose_workers_keep_dying_is_held(service: Service) -> None:
    send = service.send(send_at=ahead()).json["send_id"]
    for _ in range(MAX_CRASHES - 1):
        left_behind(service, send, watermark=0)
        assert batches_recovered(service, send) == 1
        assert state_of(service, send) == "sending"
    left_behind(service, send, watermark=0)
    assert batches_recovered(service, send) == 1
    assert state_of(service, send) == "held"


def test_a_message_that_may_have_left_is_resent_only_a_few_times(service: Service) -> None:
    send = service.send(send_at=ahead()).json["send_id"]
    for _ in range(MAX_ATTEMPTS - 1):
        left_behind(service, send, watermark=1)
        assert batches_recovered(service, send, resend_lanes=(0, 1, 2)) == 1
        assert service.counts(send).get("in_doubt", 0) == 0
    left_behind(service, send, watermark=1)
    assert batches_recovered(service, send, resend_lanes=(0, 1, 2)) == 1
    assert service.counts(send)["in_doubt"] == 1
    query = "SELECT m.attempts FROM message m JOIN batch b ON b.id = batch_of(m.id) WHERE b.send_id = :send"
    attempts = service.scalar(query, send=send)
    assert attempts == MAX_ATTEMPTS, "so that a receipt is not taken for that of its only copy"


@pytest.mark.parametrize("stop", ["state = 'canceled'", "state = 'paused'", "state = 'held'", "expires_at = now()"])
def test_a_message_that_may_have_left_is_in_doubt_if_its_send_was_stopped(service: Service, stop: str) -> None:
    """If it were to be resent, it would end with its send, and its credits would be released."""
    send = service.send(send_at=ahead()).json["send_id"]
    left_behind(service, send, watermark=1)
    service.execute(f"UPDATE send SET {stop} WHERE id = :send", send=send)
    assert batches_recovered(service, send, resend_lanes=(0, 1, 2)) == 1
    assert service.counts(send)["in_doubt"] == 1
    assert service.get(f"/sends/{send}").json["resent"] == 0


def test_nothing_is_recovered_while_workers_settle_after_an_outage(service: Service) -> None:
    """They could not renew their leases, but have kept their results."""
    service = Service(service.engine, lease=100.0)
    send = service.send(send_at=ahead()).json["send_id"]
    left_behind(service, send, watermark=1)
    outage = service.worker.sweeper.outage
    with outage.tolerated():
        raise OperationalError("SELECT 1", None, Exception("no answer"))
    with outage.tolerated():
        service.sweep()
    service.sweep()
    assert state_of(service, send) == "sending"
    service.execute(f"UPDATE batch SET lease_until = lease_until - interval '{SETTLE_SECONDS} seconds'")
    service.sweep()
    assert service.counts(send)["in_doubt"] == 1, "by now they have given up"


def test_a_batch_that_a_cycle_is_settling_is_not_recovered(service: Service) -> None:
    """It holds the batch's lock. Nobody waits for it, and nobody takes it for a failure."""
    send = service.send(send_at=ahead()).json["send_id"]
    left_behind(service, send, watermark=1)
    with service.engine.begin() as connection:
        connection.execute(text("SELECT id FROM batch WHERE send_id = :send FOR UPDATE"), {"send": send})
        assert batches_recovered(service, send) == 0
    failures = "SELECT count(*) FROM job_failure WHERE account_id = :account"
    assert service.scalar(failures, account=service.account_id) == 0


def test_the_doubt_of_a_dead_worker_writes_an_event(service: Service) -> None:
    listen(service.engine, service.account_id)
    send = service.send(send_at=ahead()).json["send_id"]
    left_behind(service, send, watermark=1)
    assert batches_recovered(service, send) == 1
    query = "SELECT type FROM event WHERE account_id = :account"
    assert "message.in_doubt" in service.scalars(query, account=service.account_id)


def test_a_send_that_has_ended_is_not_held(service: Service) -> None:
    send = service.send().json["send_id"]
    ended = state_of(service, send)
    with service.engine.begin() as connection:
        assert connection.execute(HOLD_POISONED, {"id": send, "reason": "x"}).rowcount == 0
    assert state_of(service, send) == ended == "completed"
