"""What a cycle does between its windows, and that no two workers send the same messages."""

import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

import worker.sending.checks
import worker.sending.dispatch
import worker.sending.record
from shared.accounts.category_rules import set_cap
from tests.harness.database import wait_until_somebody_waits
from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.integration.jobs.test_expand import send as expanding_send
from tests.integration.routing.test_routes import KENYA, make
from tests.integration.sending.test_late_opt_out import WINDOW, WINDOWS, between_windows, phones
from worker.jobs.expand import ENOUGH_OPEN_BATCHES, NEXT_SEND, expand
from worker.routing.carrier_pools import CarrierPools
from worker.routing.sorter import UNSORTED
from worker.sending.checks import LOCK_CAPS, apply_rules
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.dispatch import Dispatcher
from worker.sending.next_batches import CANDIDATE, ClaimRequest
from worker.sending.settle_complete import settle_complete

__all__ = ["expanding_send", "make"]


engine = own_database


@pytest.fixture
def service(engine: Engine) -> Iterator[Service]:
    made = Service(engine, simulator_window=WINDOW, concurrency=1)
    yield made
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM batch WHERE state IN ('queued', 'sending', 'waiting')"))


def dispatcher(service: Service) -> Dispatcher:
    assert isinstance(service.worker.dispatcher, Dispatcher)
    return service.worker.dispatcher


def waiting(service: Service) -> None:
    """A list that nobody sends."""
    dispatcher(service).stop.set()
    service.bulk(phones(service))
    dispatcher(service).stop.clear()


def test_batches_that_another_worker_is_claiming_are_skipped(service: Service) -> None:
    waiting(service)
    with service.engine.begin() as other:
        assert other.execute(CANDIDATE, {"candidates": 16}).all()
        assert claim(service.engine, ClaimRequest(budget=100, window_size=10, lease=15.0)) == []
    assert claim(service.engine, ClaimRequest(budget=100, window_size=10, lease=15.0))


def test_a_page_that_another_worker_expands_is_passed_over(service: Service, expanding_send: str) -> None:
    with service.engine.begin() as other:
        assert other.execute(NEXT_SEND, {"ahead": ENOUGH_OPEN_BATCHES}).all()
        assert expand(service.engine) == []
    assert expand(service.engine)


def test_batches_that_another_worker_sorts_or_claims_are_skipped(make: Callable[..., Service]) -> None:
    several = make()
    carrier_pools = several.worker.dispatcher
    assert isinstance(carrier_pools, CarrierPools)
    carrier_pools.stop.set()
    several.send(KENYA)
    with several.engine.begin() as other:
        assert other.execute(UNSORTED, {"limit": 10}).all()
        assert carrier_pools._sort() == set()
    assert carrier_pools._sort()


def test_a_worker_asked_to_stop_ends_after_its_window(service: Service) -> None:
    ordered = phones(service)
    with between_windows(service, lambda window: dispatcher(service).stop.set()) as given:
        service.bulk(ordered)
    assert given == ordered[:WINDOW]
    dispatcher(service).stop.clear()
    service.sweep()
    assert sorted(service.submitted().keys() & set(ordered)) == ordered


def test_who_asks_for_a_cycle_beside_as_many_as_may_run_does_not_wait(service: Service) -> None:
    """More may wait than they take."""
    found: list[bool] = []

    def ask(window: int) -> None:
        asking = threading.Thread(target=lambda: found.append(dispatcher(service).run_cycle_if_free()), daemon=True)
        asking.start()
        asking.join(60)

    with between_windows(service, ask):
        service.bulk(phones(service))
    assert found[0] is True


def test_a_paused_carrier_gets_no_other_window(service: Service) -> None:
    ordered, breaker = phones(service), dispatcher(service).breaker

    def pause(window: int) -> None:
        breaker.paused = True

    with between_windows(service, pause) as given:
        service.bulk(ordered)
    assert given == ordered[:WINDOW]


def test_a_turn_gives_way_after_its_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []

    def note(*arguments: Any) -> list[ClaimedBatch]:
        ended.append(1)
        return settle_complete(*arguments)

    monkeypatch.setattr(worker.sending.dispatch, "settle_complete", note)
    monkeypatch.setattr(worker.sending.dispatch, "CYCLE_SECONDS", 1e-6)
    monkeypatch.setattr(dispatcher(service), "_messages_per_second", 1e9)  # so that the first turn claims all of them
    with between_windows(service, lambda window: None):
        service.bulk(phones(service))
    assert len(ended) == WINDOWS


def test_a_claim_is_for_no_longer_than_the_lease(service: Service) -> None:
    """So long after its worker died, a batch is recovered."""
    waiting(service)
    assert claim(service.engine, ClaimRequest(budget=100, window_size=10, lease=15.0))
    within = text("SELECT lease_until <= clock_timestamp() + interval '15 seconds' FROM batch WHERE state = 'sending'")
    assert service.scalars(within) == [True]


def test_a_cycle_that_cannot_read_the_opt_outs_queues_its_messages_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = MagicMock()

    def unavailable(*arguments: object) -> None:
        raise OperationalError("", None, Exception("no answer"))

    waiting(service)
    with monkeypatch.context() as patched:
        patched.setattr(worker.sending.checks, "reading", unavailable)
        patched.setattr(service.worker.simulator, "submit", submit)
        assert dispatcher(service).run_cycle()
    assert not submit.called
    assert set(service.scalars("SELECT state FROM batch")) == {"queued"}
    assert dispatcher(service).run_cycle()


def test_the_budget_of_a_cycle_is_in_segments(service: Service) -> None:
    dispatcher(service).stop.set()
    for start in (0, 20):
        service.bulk(phones(service)[start:][:20], "long " * 40)
    dispatcher(service).stop.clear()
    batches = claim(service.engine, ClaimRequest(budget=10, window_size=10, lease=15.0))
    assert [(batch.segments, len(batch.indexes)) for batch in batches] == [(2, 5)]


def test_after_a_lost_commit_response_the_cycle_checks_what_was_written(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are there, or not: the cycle finds out before it writes them."""
    record = worker.sending.record._execute
    lost: list[bool] = []

    def answer_is_lost(*arguments: object) -> object:
        kept = record(*arguments)  # type: ignore[arg-type]
        if not lost:
            lost.append(True)
            raise OperationalError("", None, Exception("no answer"))
        return kept

    monkeypatch.setattr(worker.sending.record, "_execute", answer_is_lost)
    send = service.bulk(phones(service)).json["send_id"]
    service.sweep()
    assert service.counts(send)["sent"] == WINDOW * WINDOWS


def test_one_worker_at_a_time_takes_places_under_a_cap(service: Service) -> None:
    service.transact(set_cap, service.account_id, "marketing", (1, 24))
    dispatcher(service).stop.set()
    service.bulk(phones(service)[:2], category="marketing")
    batches = claim(service.engine, ClaimRequest(budget=100, window_size=10, lease=15.0))
    second = threading.Thread(target=apply_rules, args=(service.engine, batches))
    with service.engine.begin() as other:
        other.execute(LOCK_CAPS, {"account": service.account_id})
        second.start()
        wait_until_somebody_waits(service.engine)
    second.join()
