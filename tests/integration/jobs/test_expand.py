"""Group sends are expanded a little ahead of what is being sent, by as many workers as there are."""

import time
from uuid import UUID

import pytest
from sqlalchemy import text

import worker.jobs.expand_page
import worker.sweeper
import worker.tasks
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.integration.accept.test_group import phones, scheduled
from worker.jobs import expand as module
from worker.jobs.expand import ENOUGH_OPEN_BATCHES, expand

PAGE = 8
"""Batches, of one message each."""
PATIENCE = 60.0
"""Seconds after which a backlog ends, should nothing else end it."""


engine = own_database


@pytest.fixture
def send(service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(worker.jobs.expand_page, "BATCH_SIZE", 1)
    monkeypatch.setattr(module, "PAGE", PAGE)
    made = scheduled(service, service.new_group(phones(20, 255760000000)))
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=made)
    return made


def set_state(service: Service, batches: list[UUID], state: str) -> None:
    change = text("UPDATE batch SET state = CAST(:state AS batch_state) WHERE id = ANY(:ids)")
    service.execute(change, ids=batches, state=state)


def set_state_of_send(service: Service, send: str, state: str) -> None:
    service.execute("UPDATE send SET state = :state WHERE id = :id", id=send, state=state)


def batches_of(service: Service, send: str) -> int:
    return int(service.scalar("SELECT count(*) FROM batch WHERE send_id = :id", id=send))


def test_the_next_page_is_expanded_when_few_batches_are_left_in_the_queue(service: Service, send: str) -> None:
    first = expand(service.engine)
    assert len(first) == PAGE
    assert not expand(service.engine)
    set_state(service, first[: PAGE - ENOUGH_OPEN_BATCHES], "sending")
    assert not expand(service.engine), "as many wait as need to"
    set_state(service, first[PAGE - ENOUGH_OPEN_BATCHES :][:1], "sending")
    assert len(expand(service.engine)) == PAGE
    set_state(service, first, "waiting")
    assert not expand(service.engine), "what failed and goes again waits too"


def test_accounts_take_turns(service: Service, send: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has many sends to expand does not hold up the others."""
    monkeypatch.setattr(module, "ENOUGH_OPEN_BATCHES", 1_000)
    other = Service(service.engine)
    theirs = scheduled(other, other.new_group(phones(20, 255770000000)))
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=theirs)
    of_batch = text("SELECT send_id FROM batch WHERE id = :id")
    order = []
    for _ in range(4):
        batch = expand(service.engine)[0]
        order.append(str(service.scalar(of_batch, id=batch)))
    assert sorted(order[:2]) == sorted(order[2:]) == sorted([send, theirs])


def test_a_group_is_expanded_while_a_backlog_keeps_the_worker_busy(
    service: Service, send: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was accepted after the backlog's first cycle."""
    set_state_of_send(service, send, "scheduled")
    cycles, deadline = 0, time.monotonic() + PATIENCE

    def run_cycle() -> bool:
        nonlocal cycles
        cycles += 1
        if cycles == 1:
            set_state_of_send(service, send, "expanding")
        return time.monotonic() < deadline and not batches_of(service, send)

    monkeypatch.setattr(service.worker.dispatcher, "run_cycle_if_free", lambda: True)
    monkeypatch.setattr(service.worker.dispatcher, "run_cycle", run_cycle)
    service.worker.sweeper.work()
    assert batches_of(service, send)
    assert time.monotonic() < deadline, "only when the backlog was gone"


def test_pages_that_make_no_batches_do_not_end_the_run(service: Service, send: str) -> None:
    """Nobody of the first group may get a message; both groups are expanded in one run."""
    service.execute("UPDATE send SET state = 'queued' WHERE id = :id", id=send)
    service.post("/suppressions", phones=phones(20, 255760000000))
    set_state_of_send(service, send, "expanding")
    other = Service(service.engine)
    theirs = scheduled(other, other.new_group(phones(3, 255780000000)))
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=theirs)
    service.worker.sweeper.work()
    assert (batches_of(service, send), batches_of(service, theirs)) == (0, 3)
    assert service.scalar("SELECT count(*) FROM send WHERE expanded_to IS NOT NULL AND state = 'expanding'") == 0


def test_messages_are_sent_for_as_long_as_an_expansion_took(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account whose groups are slow to expand leaves the worker to the others for half of the time."""
    drained: list[float] = []

    def slow(*_: object) -> list[UUID] | None:
        time.sleep(0.1)
        return [] if drained else None

    def drain(seconds: float) -> int:
        drained.append(seconds)
        return 0

    monkeypatch.setattr(worker.tasks, "expand", slow)
    monkeypatch.setattr(service.worker.dispatcher, "drain", drain)
    service.worker.sweeper.work()
    assert len(drained) == 1 and drained[0] >= 0.1
