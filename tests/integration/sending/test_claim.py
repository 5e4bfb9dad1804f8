"""What a cycle claims, and what becomes of a claim that is not for the carrier."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres
from shared.settings import Settings
from tests.harness.database import disposable_database
from tests.harness.house import wait_until
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.carriers.base import Outcome, ResponseKind
from worker.carriers.simulator import Simulator
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.sending import dispatch
from worker.sending.claim import claim
from worker.sending.dispatch import Dispatcher
from worker.sending.next_batches import ClaimRequest

PHONES = [str(254711000000 + number) for number in range(10)]
LIVE, TEST = (
    SimpleNamespace(test=test, batch_id=1, epoch=1, indexes=[1], left=1, segments=1, lane=2, rate_wait=None)
    for test in (False, True)
)
BLOCKED = text("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
LOCK = text("SELECT FROM send WHERE id = :send FOR UPDATE NOWAIT")


@pytest.fixture(name="engine")
def _engine(postgres_server: Postgres) -> Iterator[Engine]:
    """Each test has a database of its own, and so finds nothing of the others in it."""
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.mark.parametrize("rule", [{"canary": 2}, {"rate": 5}], ids=["canary", "rate"])
def test_sends_are_locked_in_the_order_of_settlements(engine: Engine, rule: dict[str, Any]) -> None:
    """Else a claim that has locked the second and waits for the first deadlocks with a settlement of both."""
    service = Service(engine)
    first, second = sorted(service.bulk(PHONES, send_at=ahead(), **rule).json["send_id"] for _ in range(2))
    with engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'queued', send_at = NULL"))
        due = "UPDATE batch SET state = 'queued', due_at = now(), turn = CASE WHEN send_id = :second THEN 1 ELSE 2 END"
        connection.execute(text(due), {"second": second})
    request = ClaimRequest(budget=100, window_size=10, lease=15.0)
    claiming = threading.Thread(target=claim, args=(engine, request))
    with engine.begin() as settlement, engine.connect() as other:
        settlement.execute(LOCK, {"send": first})
        claiming.start()
        wait_until(lambda: other.execute(BLOCKED).scalar_one(), 30, "the claim to wait for the first send")
        settlement.execute(LOCK, {"send": second})
    claiming.join(30)
    with engine.connect() as connection:
        query = text("SELECT count(*) FROM batch WHERE state = 'sending' AND send_id = ANY(CAST(:ids AS uuid[]))")
        assert connection.execute(query, {"ids": [first, second]}).scalar_one() == 2


@pytest.fixture
def dispatcher(engine: Engine) -> Dispatcher:
    """Its live carrier is not the one of test keys."""
    live, simulated = Simulator(engine), Simulator(engine)
    return Dispatcher(engine, live, simulated, Settings("", "", "", ""), CircuitBreaker(live, breaks=True))


@pytest.mark.parametrize(("claimed", "another_probe"), [([TEST], 1), ([LIVE, TEST], 0), ([], 1)])
def test_a_probe_that_was_not_used_is_given_back(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch, claimed: list[Any], another_probe: int
) -> None:
    breaker = dispatcher.breaker
    breaker.note([Outcome(ResponseKind.FAILED, None, "8")] * 1_000)
    breaker.unused()
    monkeypatch.setattr(dispatch, "claim", lambda *_: claimed)
    dispatcher._claim()
    assert breaker.admit(10) == another_probe


@pytest.mark.parametrize(("lease", "undone"), [(15.0, []), (-1.0, [TEST])])
def test_messages_of_test_keys_that_waited_too_long_are_queued_again(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch, lease: float, undone: list[Any]
) -> None:
    """Their lease may be over if the others' results could not be recorded for a while."""
    sent: list[Any] = []
    given_back: list[Any] = []
    dispatcher._settings = replace(dispatcher._settings, lease=lease)
    monkeypatch.setattr(dispatch, "claim", lambda *_: [LIVE, TEST])
    monkeypatch.setattr(dispatch, "undo_claim", lambda _, batches: given_back.extend(batches))
    monkeypatch.setattr(dispatcher, "_send", lambda carrier, batches, claimed_at: sent.extend(batches))
    assert dispatcher._cycle()
    assert given_back == undone
    assert sent == [each for each in (LIVE, TEST) if each not in undone]
