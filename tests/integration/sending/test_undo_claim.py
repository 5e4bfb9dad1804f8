"""A claim whose commit gets no response: its messages are queued again if it was committed, and not in doubt."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from bulksms.local.postgres import Postgres
from shared.audit.check import audit
from tests.harness.database import disposable_database, wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.harness.times import ahead
from worker.sending import claim as claiming
from worker.sending.claim import claim
from worker.sending.next_batches import ClaimRequest

PHONES = [str(254711000000 + number) for number in range(10)]
REQUEST = ClaimRequest(budget=1000, window_size=4, lease=60)
NO_RESPONSE = OperationalError("COMMIT", {}, psycopg.OperationalError("the connection is closed"))


@pytest.fixture
def service(postgres_server: Postgres) -> Iterator[Service]:
    """Two sends of ten messages that are due."""
    with disposable_database(postgres_server) as engine:
        made = Service(engine)
        for _ in range(2):
            made.bulk(PHONES, send_at=ahead(), allow_duplicates=True)
        with engine.begin() as connection:
            connection.execute(text("UPDATE send SET state = 'queued', send_at = NULL"))
            connection.execute(text("UPDATE batch SET state = 'queued', turn = 1000, due_at = clock_timestamp()"))
        yield made


def claim_without_response(service: Service, commits: bool, then: Callable[[], Any] = lambda: None) -> None:
    """A claim of both batches, whose commit gets no response. `then` runs before the worker notices that."""
    patched = pytest.MonkeyPatch()

    @contextmanager
    def transaction(engine: Engine) -> Iterator[Connection]:
        with engine.connect() as connection:
            yield connection
            if commits:
                connection.commit()
        patched.undo()
        then()
        raise NO_RESPONSE

    patched.setattr(claiming, "transaction", transaction)
    with pytest.raises(OperationalError):
        claim(service.engine, REQUEST)


def batches(service: Service) -> list[tuple[Any, ...]]:
    with service.engine.connect() as connection:
        rows = connection.execute(text("SELECT state, intent, watermark, epoch FROM batch ORDER BY id"))
        return [tuple(row) for row in rows]


def test_what_was_claimed_is_queued_again(service: Service) -> None:
    claim_without_response(service, commits=True)
    assert batches(service) == [("queued", 0, 0, 1)] * 2
    claimed = claim(service.engine, REQUEST)
    assert [(batch.indexes, batch.epoch) for batch in claimed] == [(list(range(1, 11)), 2)] * 2
    assert audit(service.engine, full=True) == []


def test_what_another_worker_has_claimed_stays_its_own(service: Service) -> None:
    def by_another() -> None:
        assert len(claim(service.engine, REQUEST)) == 2

    claim_without_response(service, commits=False, then=by_another)
    assert batches(service) == [("sending", 10, 4, 1), ("sending", 10, 0, 1)]


def test_the_database_is_away_for_a_while(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([True, True, False])

    @contextmanager
    def sometimes(engine: Engine) -> Iterator[Connection]:
        if next(tries):
            raise NO_RESPONSE
        with engine.begin() as connection:
            yield connection

    monkeypatch.setattr(claiming, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(claiming, "transaction", sometimes)
    claim_without_response(service, commits=True)
    assert batches(service) == [("queued", 0, 0, 1)] * 2


def test_attempts_of_messages_that_are_sent_again_still_count(service: Service) -> None:
    service.execute("UPDATE batch SET next_index = 11, retry_indexes = '{2,5}', attempts = 2")
    claim_without_response(service, commits=True)
    rows = service.execute("SELECT state, retry_indexes, attempts FROM batch")
    assert [tuple(row) for row in rows] == [("queued", [2, 5], 2)] * 2


def test_a_commit_that_is_still_under_way_is_waited_for(service: Service) -> None:
    """The client has lost its connection, but the server has not ended the transaction."""
    with service.engine.connect() as server:
        [batch, _] = claiming._claim(server, REQUEST)
        thread = threading.Thread(target=claiming.undo_claim, args=(service.engine, [batch]))
        thread.start()
        wait_until_somebody_waits(service.engine)
        server.commit()
    join_all(thread)
    assert batches(service) == [("queued", 0, 0, 1), ("sending", 10, 0, 1)]
