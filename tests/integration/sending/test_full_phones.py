"""One recipient never holds back another: what a carrier refuses for its own sake leaves the order of its batch."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine

from shared.audit.check import audit
from shared.lifecycle import MessageStatus
from shared.sends.rest_of_batch import PAUSES
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.sending.test_late_opt_out import WINDOW, phones
from worker.carriers.base import MessageGroup, Outcome, with_catalogue_error
from worker.carriers.smpp.status import outcome_of
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch, Result
from worker.sending.next_batches import ClaimRequest
from worker.sending.settle_rest import settle_rest

FULL, BUSY, NO_ROUTE = 0x14, 0x08, 0x0B
"""ESME_RMSGQFUL, ESME_RSYSERR and ESME_RINVDSTADR."""
CODES = {"ESME_RINVDSTADR": "no_route"}
AT = "2026-01-02 03:04:05+00:00"


engine = own_database


@pytest.fixture
def service(engine: Engine) -> Service:
    return Service(engine, simulator_window=WINDOW, concurrency=1)


@contextmanager
def refused(service: Service, statuses: dict[str, int]) -> Iterator[list[str]]:
    """The carrier answers these phones with a command_status. Gives all phones in the order of their submits."""
    given: list[str] = []
    submit = service.worker.simulator.submit

    def answer(message_groups: list[MessageGroup]) -> list[Outcome]:
        asked = [phone for message_group in message_groups for phone in message_group.phones]
        given.extend(asked)
        outcomes = submit(message_groups)
        return [
            with_catalogue_error(outcome_of(statuses[phone]), CODES) if phone in statuses else outcome
            for phone, outcome in zip(asked, outcomes, strict=True)
        ]

    service.worker.simulator.submit = answer  # type: ignore[method-assign]
    yield given
    del service.worker.simulator.submit


def wake(service: Service) -> None:
    """The pause of each batch is over."""
    service.execute("UPDATE batch SET due_at = clock_timestamp() WHERE state = 'waiting'")
    service.sweep()


def expire(service: Service) -> None:
    service.execute("UPDATE send SET expires_at = clock_timestamp() - interval '1 second'")
    service.sweep()


@pytest.mark.parametrize(("status", "attempts"), [(FULL, 4), (BUSY, 3), (NO_ROUTE, 1)])
def test_the_others_do_not_wait_for_a_refused_message(service: Service, status: int, attempts: int) -> None:
    ordered = phones(service)
    first, middle, last = bad = [ordered[0], ordered[2 * WINDOW], ordered[-1]]
    with refused(service, dict.fromkeys(bad, status)) as given:
        send = service.bulk(ordered).json["send_id"]
    assert given[: len(ordered)] == ordered, "each once, in their order"
    assert given[len(ordered) :] == [first, middle, last] * (attempts - 1)
    assert service.counts(send)["sent"] == len(ordered) - 3
    assert audit(service.engine, full=True) == []


def test_a_full_phone_is_tried_again_until_the_validity_ends_and_is_not_charged(service: Service) -> None:
    ordered = phones(service)
    full = ordered[WINDOW]
    with refused(service, {full: FULL}) as given:
        sent = service.bulk(ordered).json["send_id"]
        before = len(given)
        wake(service)
        assert given[before:] == [full]
        assert service.get("/balance").json["reserved"] == 1
        expire(service)
    assert service.counts(sent) == {"submitted": 50, "accepted": 50, "sent": 49, "expired": 1}
    balance = service.get("/balance").json
    assert (balance["balance"], balance["reserved"]) == (1000 - 49, 0)
    [message] = service.get(f"/sends/{sent}/messages?status=expired").json["data"]
    shown = service.get(f"/messages/{message['message_id']}").json
    assert (shown["status"], shown["error"]["code"]) == ("expired", "expired")
    assert {each["carrier_code"] for each in shown["attempts"]} == {"ESME_RMSGQFUL"}
    assert len(shown["attempts"]) == given.count(full)
    assert audit(service.engine, full=True) == []


def test_the_carrier_slows_down_only_if_many_phones_are_full(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    slowed: list[float] = []
    monkeypatch.setattr(service.worker.simulator.pace, "throttled", slowed.append)
    monkeypatch.setattr("worker.sending.dispatch.FIRST_WAIT", 0.0)
    ordered = phones(service)
    with refused(service, dict.fromkeys(ordered[::12], FULL)):  # five of fifty
        service.bulk(ordered)
    assert slowed == []
    full = dict.fromkeys(ordered[:WINDOW], FULL)

    def slow_down(taken: float) -> None:
        slowed.append(taken)
        full.clear()

    monkeypatch.setattr(service.worker.simulator.pace, "throttled", slow_down)
    with refused(service, full) as given:
        service.bulk(ordered)
    assert len(slowed) == 1
    assert given[: 2 * WINDOW] == ordered[:WINDOW] * 2, "then it is the carrier that is busy, and they keep their place"


def part(service: Service, messages: int) -> ClaimedBatch:
    """So many messages of the only batch, claimed."""
    [batch] = claim(service.engine, ClaimRequest(budget=messages, window_size=messages, lease=60))
    return batch


def settled(service: Service, batch: ClaimedBatch, *refused: int) -> None:
    """All messages of a cycle are sent, but for those of these indexes."""
    for position, index in enumerate(batch.indexes):
        if index in refused:
            batch.postponed.append(position)
        else:
            batch.put(position, Result(MessageStatus.SENT, f"r{index}", None, AT, 1))
    batch.next_position = len(batch.indexes)
    settle_rest(service.engine, [batch], "simulator", 30.0)


@pytest.fixture
def waiting(service: Service) -> str:
    """A send to ten phones that nobody sends."""
    send = service.bulk(phones(service)[:10], send_at=ahead()).json["send_id"]
    service.execute("UPDATE send SET state = 'queued', send_at = NULL")
    service.execute("UPDATE batch SET state = 'queued', turn = 1000, due_at = clock_timestamp()")
    return str(send)


def pause(service: Service) -> tuple[str, int]:
    """The state of the only batch, and in how many seconds it is due."""
    row = service.row("SELECT state, round(extract(epoch FROM due_at - clock_timestamp())) FROM batch")
    return row[0], max(0, int(row[1]))


def queue(service: Service) -> None:
    service.execute("UPDATE batch SET state = 'queued', due_at = clock_timestamp()")


@pytest.mark.usefixtures("waiting")
def test_the_pauses_grow(service: Service) -> None:
    settled(service, part(service, 10), 2, 8)
    pauses = [pause(service)]
    for _ in range(len(PAUSES)):
        queue(service)
        settled(service, part(service, 1), 2)
        assert pause(service) == ("queued", 0), "the other one has not had its turn"
        settled(service, part(service, 1), 8)
        pauses.append(pause(service))
    assert {state for state, _ in pauses} == {"waiting"}
    assert [seconds for _, seconds in pauses] == pytest.approx([*PAUSES, PAUSES[-1]], abs=1)
    assert list(PAUSES) == sorted({*PAUSES})


@pytest.mark.parametrize(
    ("action", "counts"),
    [("cancel", {"canceled": 7}), ("pause", {"queued": 7}), ("expire", {"expired": 7})],
)
def test_a_send_that_is_stopped_stops_its_refused_messages_too(
    service: Service, waiting: str, action: str, counts: dict[str, int]
) -> None:
    settled(service, part(service, 4), 2)
    if action == "expire":
        expire(service)
    else:
        assert service.post(f"/sends/{waiting}/{action}").status_code == 200
    assert service.counts(waiting) == {"submitted": 10, "accepted": 10, "sent": 3} | counts
    assert audit(service.engine, full=True) == []
    if action == "pause":
        assert service.post(f"/sends/{waiting}/resume").status_code == 200
        assert Counter(service.submitted()) == Counter([phones(service)[1], *phones(service)[4:10]])
