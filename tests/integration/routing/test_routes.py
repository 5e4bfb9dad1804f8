"""Several carriers: each message goes through the right one, and tells why."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, text, update

import worker.routing.sorter
from api.metrics.counts import count_when_due
from shared.audit.check import audit
from shared.db.tables.running import state_count
from shared.health.doctor import check_queue
from shared.health.finding import Finding
from shared.sends.holding import SendsUnusable, hold_unusable
from tests.harness.live_workers import report_carriers
from tests.harness.own_database import own_database
from tests.harness.prices import valid_list
from tests.harness.service import Service
from tests.harness.sql import Database
from tests.harness.times import ahead
from worker.carriers.base import MessageGroup, Outcome, ResponseKind
from worker.receipts import match as receipts
from worker.routing.carrier_pools import CarrierPools

FILE = """
[carrier.one]
kind = "simulator"
receipt_delay = 0
[carrier.two]
kind = "simulator"
receipt_delay = 0
[carrier.three]
kind = "simulator"
receipt_delay = 0

[[routes]]
name = "kenya"
prefixes = ["254", "999"]
carriers = ["one", "two"]

[[routes]]
name = "rest"
carriers = ["three"]
"""
OLDEST = 'bulksms_oldest_queued_seconds{category="transactional"}'
KENYA, ELSEWHERE = "254711000000", "255711000000"


engine = own_database


@pytest.fixture
def make(engine: Engine, tmp_path: Path) -> Callable[..., Service]:
    """A service with these carriers."""

    def made(carriers: str = FILE, **settings: Any) -> Service:
        Database(engine).execute("DELETE FROM carrier_report")  # of workers of other tests
        file = tmp_path / "carriers.toml"
        file.write_text(carriers)
        service = Service(engine, carriers_file=str(file), **settings)
        assert isinstance(service.worker.dispatcher, CarrierPools)
        return service

    return made


def trouble(service: Service, *names: str) -> None:
    """These carriers are down, and the others are not; every worker knows."""
    for name in ("one", "two", "three"):
        service.worker.carriers[name].trouble = "connecting: refused" if name in names else None  # type: ignore[misc]
    report_carriers(service.worker)
    carrier_pools = service.worker.dispatcher
    assert isinstance(carrier_pools, CarrierPools)
    carrier_pools.follow()


def carried(service: Service, send_id: str) -> Counter[tuple[str, str]]:
    """How many of the send's messages have which carrier and reason."""
    rows = "SELECT m.carrier, m.route FROM message m JOIN batch b ON b.id = batch_of(m.id) WHERE b.send_id = :send"
    return Counter((row.carrier, row.route) for row in service.execute(rows, send=send_id))


def clean(service: Service) -> bool:
    return not list(audit(service.engine, full=True))


def test_messages_that_take_the_same_carrier_by_two_routes(make: Callable[..., Service]) -> None:
    """Both routes are named, whichever message comes first."""
    service = make(FILE.replace('carriers = ["three"]', 'carriers = ["three", "two"]'))
    trouble(service, "one", "three")
    first, second = (service.bulk(phones).json["send_id"] for phones in ([KENYA, ELSEWHERE], [ELSEWHERE, KENYA]))
    service.sweep()
    assert carried(service, first) == {("two", "kenya: fallback; rest: fallback"): 2}
    assert carried(service, second) == {("two", "rest: fallback; kenya: fallback"): 2}


def test_the_cheapest_is_chosen_by_what_carriers_cost_now(make: Callable[..., Service], engine: Engine) -> None:
    file = FILE.replace("receipt_delay = 0", "receipt_delay = 0\nprices = { default = 2 }")
    service = make(file.replace('"two"]', '"two"]\nchoose = "cheapest"'))
    assert carried(service, service.send(KENYA).json["send_id"]) == {("one", "kenya: cheapest"): 1}
    valid_list(engine, "costs of one", ("", "254", 3), carrier="one")
    service.worker.read_costs()
    assert carried(service, service.send(KENYA).json["send_id"]) == {("two", "kenya: cheapest"): 1}


def test_a_list_is_divided_among_carriers_and_sent_once(make: Callable[..., Service]) -> None:
    service = make()
    phones = [str(int(KENYA if number % 3 else ELSEWHERE) + number) for number in range(300)]
    send = service.bulk(phones).json["send_id"]
    service.sweep()
    assert carried(service, send) == {("one", "kenya: first"): 200, ("three", "rest: first"): 100}
    assert {phone: count for phone, count in service.submitted().items() if phone in set(phones)} == dict.fromkeys(
        phones, 1
    )
    assert service.counts(send)["sent"] == 300
    assert clean(service)


def test_what_is_left_behind_messages_that_are_tried_again_is_not_forgotten(make: Callable[..., Service]) -> None:
    """A cycle was throttled: the first two messages are left, and all from the third on."""
    service = make()
    send = service.bulk([KENYA, ELSEWHERE, "254711000001", "255711000001"], send_at=ahead()).json["send_id"]
    service.execute("UPDATE batch SET retry_indexes = '{1,2}', next_index = 3 WHERE send_id = :send", send=send)
    assert service.patch(f"/sends/{send}", send_at=None).status_code == 200
    service.sweep()
    assert service.counts(send)["sent"] == 4
    assert clean(service)


def test_another_carrier_takes_what_the_first_cannot(make: Callable[..., Service]) -> None:
    service = make()
    trouble(service, "one")
    assert carried(service, service.send(KENYA).json["send_id"]) == {("two", "kenya: fallback"): 1}


def test_messages_that_no_carrier_can_take_wait_and_delay_no_others(make: Callable[..., Service]) -> None:
    service = make()
    trouble(service, "three")
    waiting = service.send(ELSEWHERE).json["send_id"]
    assert carried(service, service.send(KENYA).json["send_id"]) == {("one", "kenya: first"): 1}
    assert not carried(service, waiting)
    mixed = service.bulk([KENYA, ELSEWHERE, "254711000001"]).json["send_id"]
    service.sweep()
    assert carried(service, mixed) == {("one", "kenya: first"): 2}
    trouble(service)
    service.sweep()
    assert carried(service, waiting) == {("three", "rest: first"): 1}
    assert sum(carried(service, mixed).values()) == 3
    assert clean(service)


def test_the_operator_sees_what_waits_for_a_closed_carrier(make: Callable[..., Service]) -> None:
    service = make(metrics_token="watching")

    def waiting(values: dict[str, float]) -> float:
        batches = [name for name in values if name.startswith("bulksms_batches{") and "awaiting_carrier" in name]
        return sum(values[name] for name in batches)

    def observed() -> tuple[dict[str, float], Finding]:
        service.execute(update(state_count).values(due_at=func.now()))
        count_when_due(service.engine)
        response = service.client.get("/metrics", headers={"Authorization": "Bearer watching"}).text
        lines = (line.rsplit(" ", 1) for line in response.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in lines}, service.transact(check_queue)

    trouble(service, "one", "two")
    send = service.send(KENYA).json["send_id"]
    service.execute("UPDATE carrier_report SET since = now() - interval '7 minutes' WHERE state <> 'ready'")
    service.execute("UPDATE send SET created_at = now() - interval '5 minutes' WHERE id = :send", send=send)
    values, finding = observed()
    assert 300 <= values[OLDEST] < 400
    assert waiting(values) == 1
    assert (finding.outcome, "1 batch for unavailable carriers (" in finding.detail) == ("wrong", True)
    trouble(service)
    service.sweep()
    values, finding = observed()
    assert (values[OLDEST], finding.detail) == (0, "nothing waits")
    assert waiting(values) == 0


def test_messages_queued_for_a_carrier_that_closes_go_to_another(make: Callable[..., Service]) -> None:
    service = make()
    service.execute("INSERT INTO carrier_setting (name, paused) VALUES ('one', true)")
    service.worker.carrier_status.refresh()
    try:
        assert service.worker.carrier_status.breakers[0].paused
        assert carried(service, service.send(KENYA).json["send_id"]) == {("two", "kenya: fallback"): 1}
    finally:
        service.execute("DELETE FROM carrier_setting")


def test_a_list_for_several_carriers_changes_until_a_worker_claims_it(make: Callable[..., Service]) -> None:
    """Sorting it into the carriers' queues is no beginning."""
    service = make()
    trouble(service, "one", "two", "three")
    send = service.bulk([ELSEWHERE, KENYA, ELSEWHERE.replace("0", "1")]).json["send_id"]
    service.sweep()
    with service.engine.connect() as connection:
        portions = connection.execute(text("SELECT portion FROM batch WHERE send_id = :send"), {"send": send}).scalars()
        assert portions.all() == [2]
    assert service.patch(f"/sends/{send}", message="Hi " * 60).json["cost"] == 6
    assert service.patch(f"/sends/{send}", send_at=ahead()).json["status"] == "scheduled"
    assert service.patch(f"/sends/{send}", send_at=None).json["status"] == "queued"
    trouble(service, "one", "two")
    service.sweep()
    assert service.counts(send) == {"submitted": 3, "accepted": 3, "sent": 2, "queued": 1}
    for changes in ({"message": "Ho"}, {"send_at": ahead()}):
        assert service.patch(f"/sends/{send}", **changes).json["code"] == "state_conflict"
    trouble(service)
    service.sweep()
    assert sum(carried(service, send).values()) == service.counts(send)["sent"] == 3
    assert service.get("/balance").json["balance"] == 994
    assert clean(service)


@pytest.mark.parametrize("error", ["system_error", "no_route=21408"])
def test_messages_that_one_carrier_fails_go_to_another(make: Callable[..., Service], error: str) -> None:
    service = make()
    fails(service, "one", error)
    send = service.bulk([str(int(KENYA) + number) for number in range(5)]).json["send_id"]
    for _ in range(3):
        wake(service)
        service.sweep()
    assert carried(service, send) == {("two", "kenya: again"): 5}
    assert service.counts(send)["sent"] == 5
    assert clean(service)


def fails(service: Service, name: str, error: str = "system_error") -> None:
    """This carrier takes nothing."""

    def submit(message_groups: list[MessageGroup]) -> list[Outcome]:
        return [
            Outcome(ResponseKind.FAILED, error=error) for message_group in message_groups for _ in message_group.phones
        ]

    service.worker.carriers[name].submit = submit  # type: ignore[method-assign]


def wake(service: Service) -> None:
    """What waits is due."""
    service.execute("UPDATE batch SET due_at = now() WHERE state = 'waiting'")


def test_a_message_in_doubt_goes_to_no_other_carrier(make: Callable[..., Service]) -> None:
    service = make()
    for carrier in service.worker.carriers.values():
        carrier.response_delay = 0.01  # type: ignore[attr-defined]
    send = service.send("99906000001").json["send_id"]
    wake(service)
    service.sweep()
    assert carried(service, send) == {("one", "kenya: first"): 1}
    assert service.counts(send)["in_doubt"] == 1


def test_batches_that_cannot_be_sorted_are_held_together(
    make: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one, all others would be sorted again after each of them."""
    service = make()
    service.worker.dispatcher.stop.set()
    bad = [service.send(phone).json["send_id"] for phone in ("254711000001", "254711000002", "254711000003")]
    good = service.send(ELSEWHERE).json["send_id"]
    service.worker.dispatcher.stop.clear()
    service.execute("UPDATE batch SET retry_indexes = '{9}' WHERE send_id = ANY(:sends)", sends=bad)
    holds: list[set[str]] = []

    def note(engine: Engine, unusable: SendsUnusable) -> None:
        holds.append({str(send) for send in unusable.causes})
        hold_unusable(engine, unusable)

    monkeypatch.setattr(worker.routing.sorter, "hold_unusable", note)
    service.sweep()
    assert {service.get(f"/sends/{send}").json["status"] for send in bad} == {"held"}
    assert holds == [{*bad}]
    assert carried(service, good) == {("three", "rest: first"): 1}


def test_receipts_come_back_by_their_carrier(make: Callable[..., Service]) -> None:
    service = make()
    for name in ("one", "three"):
        carrier: Any = service.worker.carriers[name]
        carrier.on_receipts = lambda batch, name=name: _record(service, name, batch)
    sends = [service.send(phone).json["message_id"] for phone in (KENYA, ELSEWHERE)]
    for name in ("one", "three"):
        carrier = service.worker.carriers[name]
        while carrier.deliver_due():
            pass
    assert [service.get(f"/messages/{message}").json["status"] for message in sends] == ["delivered"] * 2


def _record(service: Service, name: str, batch: Any) -> None:
    receipts.record(service.engine, name, batch)
