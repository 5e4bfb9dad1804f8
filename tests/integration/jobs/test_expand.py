"""Group sends are expanded a little ahead of what is being sent, by as many workers as there are."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres
from tests.harness.database import disposable_database
from tests.harness.service import Service
from tests.integration.accept.test_group import phones, scheduled
from worker.jobs import expand as module
from worker.jobs.expand import AHEAD, NEXT_SEND, expand

PAGE = 8
"""Batches, of one message each."""


@pytest.fixture(name="engine")
def _engine(postgres_server: Postgres) -> Iterator[Engine]:
    """Each test has a database of its own, and so finds nothing of the others in it."""
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.fixture
def send(service: Service, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(module, "BATCH_SIZE", 1)
    monkeypatch.setattr(module, "PAGE", PAGE)
    made = scheduled(service, service.new_group(phones(20, 255760000000)))
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id"), {"id": made})
    return made


def set_state(service: Service, batches: list[UUID], state: str) -> None:
    change = text("UPDATE batch SET state = CAST(:state AS batch_state) WHERE id = ANY(:ids)")
    with service.engine.begin() as connection:
        connection.execute(change, {"ids": batches, "state": state})


def test_the_next_page_is_expanded_when_few_batches_are_left_in_the_queue(service: Service, send: str) -> None:
    first = expand(service.engine)
    assert len(first) == PAGE
    assert not expand(service.engine)
    set_state(service, first[: PAGE - AHEAD], "sending")
    assert not expand(service.engine), "as many wait as need to"
    set_state(service, first[PAGE - AHEAD :][:1], "sending")
    assert len(expand(service.engine)) == PAGE
    set_state(service, first, "waiting")
    assert not expand(service.engine), "what failed and goes again waits too"


def test_the_batches_under_way_are_found_by_their_own_index(service: Service, send: str) -> None:
    """Once for all sends; and those that have ended, of which there may be thousands, are not read."""
    with service.engine.connect() as connection:
        for setting in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin"):  # as a worker's sessions have it
            connection.execute(text(f"SET LOCAL {setting} = off"))
        plan = connection.execute(text(f"EXPLAIN {NEXT_SEND.text}"), {"ahead": AHEAD}).scalars().all()
    lines = "\n".join(plan)
    assert "CTE under_way" in lines and "ix_batch_sending" in lines and "ix_batch_send_id" not in lines, lines


def test_accounts_take_turns(service: Service, send: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has many sends to expand does not hold up the others."""
    monkeypatch.setattr(module, "AHEAD", 1_000)
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
