"""An opt-out that comes while a send is going: no window that begins after it has its phone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine

from shared.accounts.category_rules import set_cap
from shared.audit.check import audit
from shared.contacts.suppressions import Scope, suppress
from shared.inbound import Inbound, store
from tests.harness.service import Service
from worker.carriers.base import MessageGroup, Outcome, ResponseKind
from worker.sending.checks import apply_rules, drop_suppressed
from worker.sending.claimed_batch import ClaimedBatch

WINDOW, WINDOWS = 10, 5
ACME = "27821234567"
"""The sender ID that phones can answer."""


@pytest.fixture
def service(engine: Engine) -> Service:
    made = Service(engine, simulator_window=WINDOW, concurrency=1)
    made.approve(made.account_id, f"{ACME}{made.account_id:04}")
    return made


def phones(service: Service) -> list[str]:
    """As many as fill the windows, in the order in which they are sent to."""
    return [str(255600000000 + 1000 * service.account_id + number) for number in range(WINDOW * WINDOWS)]


@contextmanager
def between_windows(service: Service, happens: Callable[[int], None]) -> Iterator[list[str]]:
    """What happens after each window, by its number from 1. Gives the phones that the carrier was given."""
    given: list[str] = []
    submit, windows = service.worker.simulator.submit, 0

    def note(message_groups: list[MessageGroup]) -> list[Outcome]:
        nonlocal windows
        given.extend(phone for message_group in message_groups for phone in message_group.phones)
        outcomes = submit(message_groups)
        windows += 1
        happens(windows)
        return outcomes

    service.worker.simulator.submit = note  # type: ignore[method-assign]
    yield given
    del service.worker.simulator.submit


def by_request(service: Service, phone: str) -> None:
    assert service.post("/suppressions", phones=[phone]).status_code == 200


def by_file(service: Service, phone: str) -> None:
    headers = {"Authorization": f"Bearer {service.token}"}
    response = service.client.post(
        "/api/v1/suppressions/import", data=f"phone\n{phone}\n", content_type="text/csv", headers=headers
    )
    assert response.status_code == 200, response.json


def by_stop(service: Service, phone: str) -> None:
    service.transact(store, "simulator", [Inbound(phone, f"{ACME}{service.account_id:04}", "STOP")])


def by_operator(service: Service, phone: str) -> None:
    service.transact(suppress, service.account_id, phone, "operator")


def by_erasure(service: Service, phone: str) -> None:
    assert service.post("/erasures", phone=phone).status_code == 200


@pytest.mark.parametrize("by", [by_request, by_file, by_stop, by_operator, by_erasure])
def test_no_window_after_the_opt_out_has_the_phone(service: Service, by: Callable[[Service, str], None]) -> None:
    ordered = phones(service)
    out = [ordered[WINDOW], ordered[-1]]

    def happens(window: int) -> None:
        if window == 1:
            for phone in out:
                by(service, phone)

    with between_windows(service, happens) as given:
        send = service.bulk(ordered).json["send_id"]
    assert given == [phone for phone in ordered if phone not in out]
    service.deliver_receipts()
    counts = service.counts(send)
    assert (counts["delivered"], counts["rejected"]) == (len(ordered) - 2, 2)
    assert audit(service.engine, full=True) == []


def test_an_opt_out_counts_from_its_commit_whenever_it_was_written(service: Service) -> None:
    """Opt-outs that were written later may be committed before."""
    ordered = phones(service)
    writing = service.engine.connect()

    def happens(window: int) -> None:
        if window == 1:
            suppress(writing, service.account_id, ordered[-1], "operator")
            by_operator(service, ordered[-2])
        if window == 3:
            writing.commit()

    with between_windows(service, happens) as given:
        service.bulk(ordered)
    writing.close()
    assert given == ordered[:-2]


def test_the_first_opt_out_of_an_empty_list_counts(service: Service) -> None:
    first, second, third = phones(service)[:3]
    assert service.send(first).status_code == service.send(second).status_code == 200
    service.worker.dispatcher.stop.set()
    send = service.send(third).json["send_id"]
    by_operator(service, third)
    service.worker.dispatcher.stop.clear()
    service.sweep()
    assert third not in service.submitted()
    assert service.counts(send)["rejected"] == 1


@pytest.mark.parametrize("scope", [Scope("marketing"), Scope("", "OTHER"), Scope("marketing", "ACME")])
def test_an_opt_out_from_another_category_or_sender_has_no_effect(service: Service, scope: Scope) -> None:
    ordered = phones(service)

    def happens(window: int) -> None:
        if window == 1:
            service.transact(suppress, service.account_id, ordered[-1], "operator", scope)

    with between_windows(service, happens) as given:
        service.bulk(ordered, category="transactional")
    assert given == ordered


@pytest.mark.parametrize("scope", [Scope("marketing"), Scope("", "ACME"), Scope("marketing", "ACME")])
def test_an_opt_out_of_its_category_or_sender_holds_it_back(service: Service, scope: Scope) -> None:
    ordered = phones(service)

    def happens(window: int) -> None:
        if window == 1:
            service.transact(suppress, service.account_id, ordered[-1], "operator", scope)

    with between_windows(service, happens) as given:
        service.bulk(ordered, category="marketing")
    assert given == ordered[:-1]


def test_the_list_is_read_only_when_it_changed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.sending.dispatch.STALE_OPT_OUTS_SECONDS", 3600.0)  # or after a slow statement, too
    monkeypatch.setattr("worker.sending.dispatch.CYCLE_SECONDS", 3600.0)
    by_operator(service, "255799999999")
    read: list[int] = []

    def note(engine: Engine, batches: list[ClaimedBatch]) -> str:
        read.append(len(batches))
        return drop_suppressed(engine, batches)

    for module in ("checks", "dispatch"):
        monkeypatch.setattr(f"worker.sending.{module}.drop_suppressed", note)
    with between_windows(service, lambda window: None):
        service.bulk(phones(service))
    assert read == [1]


def test_an_opt_out_during_slow_rules_is_not_missed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = phones(service)[:3]

    def slow(engine: Engine, batches: list[object]) -> bool:
        by_operator(service, ordered[0])
        return apply_rules(engine, batches)  # type: ignore[arg-type]

    monkeypatch.setattr("worker.sending.checks.apply_rules", slow)
    service.transact(set_cap, service.account_id, "marketing", (5, 24))
    with between_windows(service, lambda window: None) as given:
        service.bulk(ordered, category="marketing")
    assert given == ordered[1:]


def test_a_message_to_be_submitted_again_is_dropped_too(service: Service) -> None:
    ordered = phones(service)
    throttled = ordered[3]
    submit, windows = service.worker.simulator.submit, 0
    given: list[str] = []

    def note(message_groups: list[MessageGroup]) -> list[Outcome]:
        nonlocal windows
        windows += 1
        submitted = [phone for message_group in message_groups for phone in message_group.phones]
        given.extend(submitted)
        outcomes = submit(message_groups)
        if windows == 1:
            by_operator(service, throttled)
            outcomes[submitted.index(throttled)] = Outcome(ResponseKind.THROTTLED, None, "88")
        return outcomes

    service.worker.simulator.submit = note  # type: ignore[method-assign]
    service.bulk(ordered)
    assert given.count(throttled) == 1
    assert audit(service.engine, full=True) == []
