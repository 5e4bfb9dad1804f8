"""What a cycle claims, and what becomes of a claim that is not for the carrier."""

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Engine, text

from shared.settings import Settings
from tests.harness.database import wait_until_somebody_waits
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.harness.times import ahead
from worker.carriers.base import Outcome, ResponseKind
from worker.carriers.simulator import Simulator
from worker.pacing.circuit_breaker import CircuitBreaker
from worker.sending import dispatch
from worker.sending.claim import claim
from worker.sending.dispatch import Dispatcher
from worker.sending.next_batches import ClaimRequest

PHONES = [str(254711000000 + number) for number in range(10)]
COMMON = {"batch_id": 1, "epoch": 1, "indexes": [1], "left": 1, "segments": 1, "lane": 2}
LIVE, TEST = (SimpleNamespace(test=test, rate_delay=None, request_id=None, **COMMON) for test in (False, True))
LOCK = text("SELECT FROM send WHERE id = :send FOR UPDATE NOWAIT")


engine = own_database


class Waiting(NamedTuple):
    """Two sends that are limited by a rule of their own, after a single send that is not."""

    service: Service
    single: str
    first: str
    second: str

    def claimed(self) -> set[str]:
        """Which of them have been claimed."""
        return set(self.service.scalars("SELECT CAST(send_id AS text) FROM batch WHERE state = 'sending'"))


@pytest.fixture(params=[{"canary": 2}, {"rate": 5}], ids=["canary", "rate"])
def waiting(request: pytest.FixtureRequest, engine: Engine) -> Waiting:
    """In this order in the queue."""
    service = Service(engine)
    single = service.send(send_at=ahead()).json["send_id"]
    first, second = (service.bulk(PHONES, send_at=ahead(), **request.param).json["send_id"] for _ in range(2))
    with engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'queued', send_at = NULL"))
        for turn, send in enumerate((single, first, second), 1):
            due = "UPDATE batch SET state = 'queued', due_at = now(), turn = :turn WHERE send_id = :send"
            connection.execute(text(due), {"turn": turn, "send": send})
    return Waiting(service, single, first, second)


def request_of(budget: int) -> ClaimRequest:
    return ClaimRequest(budget=budget, window_size=10, lease=15.0)


def test_a_claim_waits_for_no_send_that_it_does_not_take(waiting: Waiting) -> None:
    with waiting.service.engine.begin() as settlement:
        for send in (waiting.first, waiting.second):
            settlement.execute(LOCK, {"send": send})
        assert len(claim(waiting.service.engine, request_of(1))) == 1
    assert waiting.claimed() == {waiting.single}


def test_a_claim_that_has_locked_a_send_waits_for_no_other(waiting: Waiting) -> None:
    """A settlement of both may hold the other, and wait for the first."""
    with waiting.service.engine.begin() as settlement:
        settlement.execute(LOCK, {"send": waiting.second})
        assert len(claim(waiting.service.engine, request_of(100))) == 2
    assert waiting.claimed() == {waiting.single, waiting.first}


def test_a_claim_waits_for_the_first_send(waiting: Waiting) -> None:
    """Else a send with a rate of its own would wait for the next second whenever a cycle of it ends."""
    engine = waiting.service.engine
    claiming = threading.Thread(target=claim, args=(engine, request_of(100)))
    with engine.begin() as settlement:
        settlement.execute(LOCK, {"send": waiting.first})
        claiming.start()
        wait_until_somebody_waits(engine)
        settlement.execute(LOCK, {"send": waiting.second})
    join_all(claiming)
    assert waiting.claimed() == {waiting.single, waiting.first, waiting.second}


@pytest.fixture
def dispatcher(engine: Engine) -> Dispatcher:
    """Its live carrier is not the one of test keys."""
    live, simulated = Simulator(engine), Simulator(engine)
    breaker = CircuitBreaker(live, breaks=True, clock=lambda: 0.0)
    return Dispatcher(engine, live, simulated, Settings("", "", "", ""), breaker)


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


@pytest.mark.parametrize(("lease", "renewals"), [(3600.0, 0), (-1.0, 2)])
def test_messages_that_waited_long_for_others_of_their_claim_renew_their_lease(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch, lease: float, renewals: int
) -> None:
    """The live ones of a claim go first. Another worker may have taken over the others since."""
    recorded: list[Any] = []

    def record_results(carrier: Any, batches: list[Any], snapshot: str) -> str:
        recorded.append(batches)
        return snapshot

    dispatcher._settings = replace(dispatcher._settings, lease=lease)
    monkeypatch.setattr(dispatch, "claim", lambda *_: [LIVE, TEST])
    monkeypatch.setattr(dispatch, "filter_recipients", lambda *_: "1:2:")
    monkeypatch.setattr(dispatch, "next_window", lambda *_: [])
    monkeypatch.setattr(dispatcher, "_record_results", record_results)
    monkeypatch.setattr(dispatcher, "_settle_with_retry", lambda *_: None)
    monkeypatch.setattr(dispatch, "count_results", lambda *_: None)
    assert dispatcher._cycle()
    assert len(recorded) == renewals
