"""What could not be sent for a while continues at the queue's clock, and takes no other account's share."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from uuid import UUID

import pytest

import api.commit.draft
from shared.sends.holding import hold, release
from shared.sends.requeue import reactivate
from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.sending.test_authentication_share import EMPTY
from worker.sending.claim import claim
from worker.sending.next_batches import ClaimRequest
from worker.sending.settle_rest import settle_rest

BATCH = 10
NUMBERS = count(254790000000)
Send = Callable[..., str]


@pytest.fixture(autouse=True)
def small_batches(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Batches of ten messages, which nobody sends but the test."""
    monkeypatch.setattr(api.commit.draft, "BATCH_SIZE", BATCH)
    service.worker.dispatcher.stop.set()
    yield
    service.execute(EMPTY)


class Customer:
    """An account of the service."""

    def __init__(self, service: Service, name: str) -> None:
        self.service = service
        self.id = service.new_account(name)
        self.token = service.new_token(self.id)

    def bulk(self, phones: int = 100, **more: Any) -> str:
        """Send to a list. Returns the send's id."""
        numbers = [str(next(NUMBERS)) for _ in range(phones)]
        answer = self.service.bulk(numbers, token=self.token, **more)
        assert answer.status_code == 200, answer.json
        return str(answer.json["send_id"])

    def change(self, send: str, **changes: Any) -> None:
        """Change a send."""
        assert self.service.patch(f"/sends/{send}", token=self.token, **changes).status_code == 200

    def post(self, send: str, what: str) -> None:
        """Pause or resume a send."""
        assert self.service.post(f"/sends/{send}/{what}", token=self.token).status_code == 200


@pytest.fixture
def attacker(service: Service) -> Customer:
    return Customer(service, "attacker")


@pytest.fixture
def victim(service: Service) -> Customer:
    return Customer(service, "victim")


def take(service: Service, cycles: int = 1, without: str = "") -> list[int]:
    """The accounts of the next batches in order, without those of a send. Each cycle claims a batch and sends it, and
    beside it what the rate of a slow send allows."""
    accounts = []
    for _ in range(cycles):
        batches = claim(service.engine, ClaimRequest(budget=BATCH, window_size=10, lease=15.0))
        accounts += [batch.account_id for batch in batches if str(batch.send_id) != without]
        settle_rest(service.engine, batches, "simulator", 0.0)
        # Nothing was submitted, so the batches are queued again.
        over = "UPDATE batch SET state = 'waiting', due_at = now() + interval '1 day' WHERE id = ANY(:ids)"
        service.execute(over, ids=[batch.batch_id for batch in batches])
    return accounts


def shared_equally(service: Service, *customers: Customer, cycles: int = 10, without: str = "") -> None:
    accounts = take(service, cycles, without)
    assert len(accounts) == cycles
    for customer in customers:
        assert abs(accounts.count(customer.id) - cycles / len(customers)) <= 1, accounts


def turns(service: Service, send: str) -> list[int]:
    """The turns of a send's batches, by the order in which they were accepted."""
    return list(service.scalars("SELECT turn FROM batch WHERE send_id = :id ORDER BY id", id=send))


def earlier(service: Service, customer: Customer) -> None:
    """Let what the customer has sent so far have been accepted a minute earlier."""
    before = {"id": customer.id, "minute": 60_000_000}
    service.execute("UPDATE batch SET turn = turn - :minute WHERE account_id = :id AND turn > 0", **before)
    service.execute("UPDATE account SET turns = ARRAY(SELECT unnest(turns) - :minute) WHERE id = :id", **before)


def due(service: Service, send: str) -> None:
    """Let the time of a scheduled send come."""
    for table, column, key in (("send", "send_at", "id"), ("batch", "due_at", "send_id")):
        service.execute(f"UPDATE {table} SET {column} = now() WHERE {key} = :id", id=send)
    service.worker.sweeper.recover_and_wake()


@pytest.mark.parametrize("go_on", ["rescheduled", "due", "resumed", "released"])
def test_a_send_that_goes_on_takes_no_more_than_its_share(
    service: Service, attacker: Customer, victim: Customer, go_on: str
) -> None:
    send = attacker.bulk(send_at=ahead()) if go_on in ("rescheduled", "due") else attacker.bulk()
    if go_on == "resumed":
        attacker.post(send, "pause")
    elif go_on == "released":
        service.transact(hold, UUID(send), "test")
    earlier(service, attacker)
    victim.bulk()
    before = turns(service, send)
    match go_on:
        case "rescheduled":
            attacker.change(send, send_at=None)
        case "due":
            due(service, send)
        case "resumed":
            attacker.post(send, "resume")
        case _:
            service.transact(release, UUID(send))
    after = turns(service, send)
    assert after == sorted(after) and after[0] > before[0]
    shared_equally(service, attacker, victim)


@pytest.mark.parametrize("how", ["scheduled", "deferred", "canceled in part"])
def test_later_sends_of_the_account_come_after_the_overtaken_ones(
    service: Service, attacker: Customer, victim: Customer, how: str
) -> None:
    """Also if a cycle claimed them and found that it is the night at their recipients, or if a message of each was
    canceled."""
    first, second = (attacker.bulk(send_at=ahead()) for _ in range(2))
    if how == "deferred":
        for send in (first, second):
            attacker.change(send, send_at=None)
        deferred = "UPDATE batch SET state = 'waiting', epoch = 1, due_at = :due WHERE account_id = :id"
        service.execute(deferred, id=attacker.id, due=ahead())
    if how == "canceled in part":
        for send in (first, second):
            messages = service.get(f"/sends/{send}/messages?limit=1000", token=attacker.token).json["data"]
            for each in messages[::BATCH]:
                response = service.post(f"/messages/{each['message_id']}/cancel", token=attacker.token)
                assert response.status_code == 200
    earlier(service, attacker)
    victim.bulk()
    due(service, first)
    due(service, second)
    third = attacker.bulk()
    assert turns(service, first)[-1] < turns(service, second)[0] < turns(service, second)[-1] < turns(service, third)[0]
    if how != "canceled in part":  # a cycle takes more of the smaller batches
        shared_equally(service, attacker, victim)


def test_a_scheduled_send_takes_no_second_share_beside_one_that_waited_for_a_carrier(
    service: Service, attacker: Customer, victim: Customer
) -> None:
    """They are due together, and the last of its account that waits has not been overtaken."""
    attacker.bulk(200)
    last, scheduled = attacker.bulk(10), attacker.bulk(send_at=ahead())
    victim.bulk(300)
    for change in (
        "UPDATE send SET state = 'queued', send_at = NULL WHERE id = ANY(:ids)",
        "UPDATE batch SET state = 'waiting', due_at = now() WHERE send_id = ANY(:ids)",
    ):
        service.execute(change, ids=[last, scheduled])
    service.worker.sweeper.recover_and_wake()
    assert turns(service, scheduled)[0] > turns(service, last)[-1]


def test_a_send_that_the_clock_has_not_passed_keeps_its_turn(
    service: Service, attacker: Customer, victim: Customer
) -> None:
    victim.bulk()
    send = attacker.bulk()
    before = turns(service, send)
    attacker.post(send, "pause")
    attacker.post(send, "resume")
    assert turns(service, send) == before


def test_a_slow_send_does_not_keep_the_clock_back(service: Service, attacker: Customer, victim: Customer) -> None:
    slow = attacker.bulk(20, rate=1)
    victim.bulk(100)
    assert len(take(service, 20)) >= 11  # a message of the slow send, and all that the victim has
    victim.bulk()
    attacker.bulk()
    shared_equally(service, attacker, victim, without=slow)


def test_a_slow_send_is_raised_when_it_is_claimed(service: Service, attacker: Customer, victim: Customer) -> None:
    send = attacker.bulk(rate=1)
    earlier(service, attacker)
    begin, before = turns(service, victim.bulk())[0], turns(service, send)
    assert begin > before[-1]
    assert attacker.id in take(service)
    assert [turn - begin for turn in turns(service, send)[1:]] == [turn - before[0] for turn in before[1:]]


def test_an_account_that_was_frozen_continues_at_the_clock(
    service: Service, attacker: Customer, victim: Customer
) -> None:
    send = attacker.bulk()
    earlier(service, attacker)
    service.execute("UPDATE account SET state = 'frozen' WHERE id = :id", id=attacker.id)
    begin, before = turns(service, victim.bulk())[0], turns(service, send)
    assert before[-1] < begin
    service.transact(reactivate, attacker.id)
    after = turns(service, send)
    assert after[0] >= begin
    assert [turn - after[0] for turn in after] == [turn - before[0] for turn in before]
