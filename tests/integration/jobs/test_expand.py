"""Group sends are expanded a little ahead of what is being sent, by as many workers as there are."""

import time
from uuid import UUID

import pytest
from sqlalchemy import text

import worker.jobs.expand_page
import worker.tasks
from tests.harness.service import Service
from tests.integration.accept.test_group import phones, scheduled
from tests.integration.own_database import own_database
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
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id"), {"id": made})
    return made


def set_state(service: Service, batches: list[UUID], state: str) -> None:
    change = text("UPDATE batch SET state = CAST(:state AS batch_state) WHERE id = ANY(:ids)")
    with service.engine.begin() as connection:
        connection.execute(change, {"ids": batches, "state": state})


def set_state_of_send(service: Service, send: str, state: str) -> None:
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = :state WHERE id = :id"), {"id": send, "state": state})


def batches_of(service: Service, send: str) -> int:
    with service.engine.connect() as connection:
        return int(
            connection.execute(text("SELECT count(*) FROM batch WHERE send_id = :id"), {"id": send}).scalar_one()
        )


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
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id"), {"id": theirs})
    of_batch = text("SELECT send_id FROM batch WHERE id = :id")
    order = []
    for _ in range(4):
        batch = expand(service.engine)[0]
        with service.engine.connect() as connection:
            order.append(str(connection.execute(of_batch, {"id": batch}).scalar_one()))
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


def test_messages_are_sent_for_as_long_as_an_expansion_took(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account whose groups are slow to expand leaves the worker to the others for half of the time."""
    took, ended, pauses, deadline = 0.1, 0.0, list[float](), time.monotonic() + PATIENCE

    def slow(*_: object) -> list[UUID] | None:
        nonlocal ended
        if ended:
            pauses.append(time.monotonic() - ended)
        time.sleep(took)
        ended = time.monotonic()
        return None if len(pauses) < 3 else []

    def run_cycle() -> bool:
        time.sleep(0.01)
        return len(pauses) < 3 and time.monotonic() < deadline

    monkeypatch.setattr(worker.tasks, "expand", slow)
    monkeypatch.setattr(service.worker.dispatcher, "run_cycle", run_cycle)
    service.worker.sweeper.work()
    assert min(pauses[:3]) >= took


def test_pages_that_make_no_batches_do_not_end_the_run(service: Service, send: str) -> None:
    """Nobody of the first group may get a message; both groups are expanded in one run."""
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'queued' WHERE id = :id"), {"id": send})
    service.post("/suppressions", phones=phones(20, 255760000000))
    set_state_of_send(service, send, "expanding")
    other = Service(service.engine)
    theirs = scheduled(other, other.new_group(phones(3, 255780000000)))
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id"), {"id": theirs})
    service.worker.sweeper.work()
    assert (batches_of(service, send), batches_of(service, theirs)) == (0, 3)
    with service.engine.connect() as connection:
        left = text("SELECT count(*) FROM send WHERE expanded_to IS NOT NULL AND state = 'expanding'")
        assert connection.execute(left).scalar_one() == 0
