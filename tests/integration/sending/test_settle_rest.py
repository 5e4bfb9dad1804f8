"""The end of a cycle: what is sent again and when, and what a send that was canceled meanwhile becomes."""

import threading

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from shared import outbox
from shared.audit.check import audit
from shared.ids import message_id
from shared.lifecycle import MessageStatus
from shared.sends.fair_queueing import virtual_time
from tests.harness.database import wait_until_somebody_waits
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.carriers.base import LateResponse, Outcome, ResponseKind
from worker.receipts.late_responses import record_late_responses
from worker.recovery.close_ended_sends import close_ended_sends
from worker.recovery.recover import recover
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.next_batches import ClaimRequest
from worker.sending.record import record_results
from worker.sending.settle_rest import settle_rest

PHONES = [str(254711000000 + number) for number in range(10)]
AT = "2026-01-02 03:04:05+00:00"
DUE = (
    "UPDATE send SET state = 'queued', send_at = NULL",
    "UPDATE batch SET state = 'queued', turn = 1000, due_at = clock_timestamp()",
)


engine = own_database


@pytest.fixture
def service(engine: Engine) -> Service:
    """An account that listens to events."""
    made = Service(engine)
    outbox.listen(engine, made.account_id)
    return made


def claimed(service: Service) -> ClaimedBatch:
    """Ten messages that a cycle has claimed."""
    service.bulk(PHONES, send_at=ahead())
    for change in DUE:
        service.execute(change)
    [batch] = claim(service.engine, ClaimRequest(budget=1000, window_size=100, lease=60))
    return batch


@pytest.fixture
def batch(service: Service) -> ClaimedBatch:
    """Ten messages that a cycle has claimed, of which four were sent."""
    batch = claimed(service)
    for position in range(4):
        batch.put(position, Result(MessageStatus.SENT, f"r{position}", None, AT, 1))
    batch.next_position = 4
    return batch


def state(service: Service) -> tuple[str, bool]:
    """The batch's state, and whether it is due."""
    row = service.row("SELECT state, due_at <= clock_timestamp() FROM batch")
    return row[0], row[1]


def test_a_message_sent_in_part_is_never_sent_again(service: Service, batch: ClaimedBatch) -> None:
    """The phone would get the accepted parts twice."""
    for position, error in ((4, "no_response"), (5, "partly_sent")):
        batch.put(position, Result(MessageStatus.IN_DOUBT, None, error, AT, 1))
    batch.next_position = 6
    settle_rest(service.engine, [batch], "simulator", 30.0, {batch.lane})
    doubts = service.scalars("SELECT error FROM message WHERE status = 'in_doubt'")
    assert (doubts, service.scalar("SELECT resent FROM send")) == (["partly_sent"], 1)


@pytest.mark.parametrize("weight", [1, 4, 1_000])
def test_a_batch_advances_by_what_was_sent_and_the_weight_of_its_account(
    service: Service, batch: ClaimedBatch, weight: int
) -> None:
    """And at least by 1, or the account would go first for as long as the batch lasts."""
    before = turn_of(service, weight)
    settle_rest(service.engine, [batch], "simulator", 30.0)
    assert turn_of(service) == before + virtual_time(4, batch.lane, weight) > before


def test_a_batch_of_which_nothing_was_sent_keeps_its_turn(service: Service) -> None:
    """So it can give it back, if the send is canceled because the carrier does not answer."""
    batch = claimed(service)
    before = turn_of(service)
    settle_rest(service.engine, [batch], "simulator", 30.0)
    assert turn_of(service) == before


def test_a_batch_without_a_turn_is_not_given_one_by_a_cycle(service: Service, batch: ClaimedBatch) -> None:
    """The sweep places it. Until then, a small turn would set the clock back."""
    service.execute("UPDATE batch SET turn = 0")
    settle_rest(service.engine, [batch], "simulator", 30.0)
    assert turn_of(service) == 0


def turn_of(service: Service, weight: int = 1) -> int:
    service.execute("UPDATE account SET weight = :weight", weight=weight)
    return int(service.scalar("SELECT turn FROM batch"))


def test_a_throttled_message_waits_for_its_next_attempt(service: Service, batch: ClaimedBatch) -> None:
    batch.again = [4]
    settle_rest(service.engine, [batch], "simulator", 3600.0)
    assert state(service) == ("waiting", False)


def test_messages_that_are_sent_again_are_counted_once_if_a_commit_failed_before(
    service: Service, batch: ClaimedBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_doubt(batch)
    settle_without_commit(service, batch, monkeypatch)
    settle_rest(service.engine, [batch], "simulator", 30.0, {batch.lane})
    assert service.get(f"/sends/{batch.send_id}").json["resent"] == 1


@pytest.mark.parametrize(
    ("stop", "counts"),
    [
        ("canceled", {"canceled": 5, "in_doubt": 1}),
        ("paused", {"queued": 5, "in_doubt": 1}),
        ("held", {"queued": 5, "in_doubt": 1}),
        ("expired", {"expired": 5, "in_doubt": 1}),
    ],
)
@pytest.mark.parametrize("commit_failed", [False, True])
def test_a_doubt_of_a_send_that_was_stopped_meanwhile_stays_one(
    service: Service,
    batch: ClaimedBatch,
    monkeypatch: pytest.MonkeyPatch,
    stop: str,
    counts: dict[str, int],
    commit_failed: bool,
) -> None:
    """If it were to be sent again, it would end with its send, and its credits would be released."""
    send = str(batch.send_id)
    put_in_doubt(batch)
    if commit_failed:
        settle_without_commit(service, batch, monkeypatch)
    stop_send(service, stop)
    settle_rest(service.engine, [batch], "simulator", 30.0, {batch.lane})
    close_ended_sends(service.engine)
    assert service.counts(send) == {"submitted": 10, "accepted": 10, "sent": 4} | counts
    late = LateResponse(message_id(batch.batch_id, 5), Outcome(ResponseKind.ACCEPTED, "late"))
    record_late_responses(service.engine, [late], {batch.lane})
    assert service.counts(send)["sent"] == 5
    assert audit(service.engine, full=True) == []


def test_a_doubt_of_a_send_that_its_own_failures_stop_stays_one(service: Service, batch: ClaimedBatch) -> None:
    """The same commit holds it, and a canceled message without a row would be taken for unsent."""
    send = str(batch.send_id)
    service.execute("""UPDATE send SET rules = '{"stop_if": {"min_messages": 2, "failed_share": 0.1}}'""")
    put_in_doubt(batch)
    for position in range(5, 10):
        batch.put(position, Result(MessageStatus.FAILED, None, "refused", AT, 1))
    batch.next_position = 10
    settle_rest(service.engine, [batch], "simulator", 30.0, {batch.lane})
    assert service.scalar("SELECT held_by FROM send WHERE id = :send", send=send) == "stop_if"
    assert service.counts(send) == {"submitted": 10, "accepted": 10, "sent": 4, "in_doubt": 1, "failed": 5}
    assert audit(service.engine, full=True) == []


def put_in_doubt(batch: ClaimedBatch) -> None:
    """One more message was submitted, and got no response."""
    batch.put(4, Result(MessageStatus.IN_DOUBT, None, "no_response", AT, 1))
    batch.next_position = 5


def settle_without_commit(service: Service, batch: ClaimedBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settlement that the database did not commit."""

    def fail(name: str) -> None:
        raise OperationalError("COMMIT", None, Exception("no answer"))

    with monkeypatch.context() as patch, pytest.raises(OperationalError):
        patch.setattr("worker.sending.settle_rest.crashpoint", fail)
        settle_rest(service.engine, [batch], "simulator", 30.0, {batch.lane})
    batch.mark_rows_uncertain()


def stop_send(service: Service, stop: str) -> None:
    if stop == "expired":
        service.execute("UPDATE send SET expires_at = clock_timestamp() - interval '1 second'")
    else:
        service.execute("UPDATE send SET state = CAST(:state AS send_state)", state=stop)


def test_messages_canceled_meanwhile_are_not_charged_and_write_an_event(service: Service, batch: ClaimedBatch) -> None:
    send = str(batch.send_id)
    assert service.post(f"/sends/{send}/cancel").status_code == 200
    settle_rest(service.engine, [batch], "simulator", 30.0)
    assert service.counts(send) == {"submitted": 10, "accepted": 10, "sent": 4, "canceled": 6}
    assert state(service)[0] == "canceled"
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 996, "reserved": 0}
    query = "SELECT coalesce(sum(cardinality(indexes)), 0) FROM event WHERE type = 'message.canceled'"
    assert service.scalar(query) == 6
    assert audit(service.engine, full=True) == []


def test_a_send_that_is_being_canceled_is_waited_for(service: Service, batch: ClaimedBatch) -> None:
    """The cancel is not committed when the cycle ends. Both take the lock of the send, one after the other."""
    ending = threading.Thread(target=settle_rest, args=[service.engine, [batch], "simulator", 30.0])
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'canceled'"))
        ending.start()
        wait_until_somebody_waits(service.engine)
    ending.join()
    assert state(service)[0] == "canceled"


def test_a_live_cycle_renews_its_lease(service: Service, batch: ClaimedBatch) -> None:
    service.execute("UPDATE batch SET lease_until = clock_timestamp() + interval '1 second'")
    record_results(service.engine, [batch], 5, "simulator", lease=3600)
    assert service.scalar("SELECT lease_until > clock_timestamp() + interval '30 minutes' FROM batch")


def test_results_of_a_cycle_that_lost_its_lease_resolve_doubts(service: Service, batch: ClaimedBatch) -> None:
    send = str(batch.send_id)
    service.execute("UPDATE batch SET lease_until = clock_timestamp() - interval '1 second'")
    assert len(recover(service.engine, lambda test: "simulator")) == 1
    assert service.counts(send)["in_doubt"] == 10
    settle_rest(service.engine, [batch], "simulator", 0.0)
    assert service.counts(send) == {"submitted": 10, "accepted": 10, "sent": 4, "in_doubt": 6}
    assert audit(service.engine, full=True) == []


def test_a_refusal_of_a_cycle_that_lost_its_lease_is_no_evidence_about_a_later_submit(
    service: Service, batch: ClaimedBatch
) -> None:
    """Its messages were submitted again, and one of these submits may have been accepted."""
    send, attempts = str(batch.send_id), 2
    for position in range(4, 10):
        batch.put(position, Result(MessageStatus.FAILED, None, "refused", AT, 1))
    for _ in range(attempts):
        end_lease(service)
        assert len(recover(service.engine, lambda test: "simulator", resend_lanes={batch.lane})) == 1
        service.execute("UPDATE batch SET state = 'queued'")  # their round is over, and the next one waits
        claim(service.engine, ClaimRequest(budget=1000, window_size=100, lease=60))
    end_lease(service)
    recover(service.engine, lambda test: "simulator", resend_lanes={batch.lane})
    assert service.counts(send)["in_doubt"] == 10
    settle_rest(service.engine, [batch], "simulator", 0.0, {batch.lane})
    assert service.counts(send) == {"submitted": 10, "accepted": 10, "sent": 4, "in_doubt": 6}
    assert audit(service.engine, full=True) == []


def end_lease(service: Service) -> None:
    service.execute("UPDATE batch SET lease_until = clock_timestamp() - interval '1 second'")
