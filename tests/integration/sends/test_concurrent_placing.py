"""No account is placed behind all of another one's backlog, whatever they sent, stopped or planned before."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from api.commit.commit import commit_sends
from api.commit.draft import Draft
from shared.sends import fair_queueing
from shared.sends.fair_queueing import RAISE_IDLE_CLOCK, virtual_time
from shared.sends.holding import hold
from tests.harness.database import wait_until_somebody_waits
from tests.harness.drafts import single
from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.accept.test_group import phones, scheduled
from tests.integration.sends.test_overtaken import (
    Customer,
    attacker,
    shared_equally,
    small_batches,
    take,
    turns,
    victim,
)
from worker.jobs.expand import expand

__all__ = ["attacker", "small_batches", "victim"]


CHANGE_STATE = text("UPDATE batch SET state = CAST(:new AS batch_state) WHERE account_id = :id AND state = :old")


def change_state(service: Service, customer: Customer, old: str, new: str) -> None:
    service.execute(CHANGE_STATE, id=customer.id, old=old, new=new)


def sent(service: Service, customer: Customer) -> None:
    """All that the customer has in the queue is sent."""
    change_state(service, customer, "queued", "done")


@contextmanager
def invisible(service: Service, customer: Customer) -> Iterator[None]:
    """What the customer has in the queue is not there, as before its transaction commits."""
    change_state(service, customer, "queued", "held")
    yield
    change_state(service, customer, "held", "queued")


def raise_idle_clock(service: Service) -> None:
    service.execute(RAISE_IDLE_CLOCK)


def test_an_empty_queue_is_at_the_same_place_for_all(service: Service, attacker: Customer, victim: Customer) -> None:
    """Accepted while the other's send is not visible yet: neither goes behind all of the other. Nor does it matter how
    long the other's transaction takes."""
    attacker.bulk(300)
    with invisible(service, attacker):
        time.sleep(1.1)
        victim.bulk(50)
    shared_equally(service, attacker, victim)


def test_what_is_held_counts_against_nobody_once_the_queue_was_empty(
    service: Service, attacker: Customer, victim: Customer
) -> None:
    held = victim.bulk(400)
    service.transact(hold, UUID(held), "test")
    raise_idle_clock(service)
    attacker.bulk(300)
    victim.bulk(50)
    shared_equally(service, attacker, victim)


def stop(customer: Customer, send: str, how: str) -> None:
    """Take a send out of the queue."""
    if how == "rescheduled":
        customer.change(send, send_at=ahead())
    else:
        customer.post(send, {"canceled": "cancel", "paused": "pause"}[how])


@pytest.mark.parametrize("how", ["canceled", "paused", "rescheduled", "scheduled"])
def test_what_is_not_in_the_queue_does_not_count(
    service: Service, attacker: Customer, victim: Customer, how: str
) -> None:
    """A mistaken campaign that was canceled, or tomorrow's, does not delay what its account sends now."""
    attacker.bulk(300)
    if how == "scheduled":
        victim.bulk(400, send_at=ahead())
    else:
        stop(victim, victim.bulk(400), how)
    victim.bulk(50)
    shared_equally(service, attacker, victim)


@pytest.mark.parametrize("how", ["paused and canceled", "paused again and again", "rescheduled again and again"])
def test_what_left_the_queue_is_given_back_once(
    service: Service, attacker: Customer, victim: Customer, how: str
) -> None:
    """What is sent besides still counts, however often a send is stopped."""
    victim.bulk(300)
    attacker.bulk(50)
    send = attacker.bulk(100)
    if how == "paused and canceled":
        attacker.post(send, "pause")
    for _ in range(3):
        match how:
            case "paused and canceled":
                attacker.post(send, "cancel")
            case "paused again and again":
                attacker.post(send, "pause")
                attacker.post(send, "resume")
            case _:
                attacker.change(send, send_at=ahead())
    attacker.bulk(50)
    shared_equally(service, attacker, victim)


def test_a_send_that_was_paused_goes_on_behind_what_its_account_queued_meanwhile(
    service: Service, attacker: Customer, victim: Customer
) -> None:
    """Beside it, the account would have two shares of the carrier."""
    victim.bulk(300)
    sends = []
    for _ in range(3):
        sends.append(attacker.bulk(100))
        attacker.post(sends[-1], "pause")
    for send in sends:
        attacker.post(send, "resume")
    shared_equally(service, attacker, victim, cycles=24)


def test_a_send_before_others_of_its_account_keeps_its_turns(service: Service, attacker: Customer) -> None:
    """An account cannot leave its share unused, and have it later beside its usual one: all that it accepts in place of
    canceled sends would come at the same turns."""
    canceled, paused, last = (attacker.bulk() for _ in range(3))
    before = turns(service, paused)
    attacker.post(canceled, "cancel")
    attacker.post(paused, "pause")
    assert turns(service, paused) == before
    assert turns(service, attacker.bulk(10))[0] > turns(service, last)[-1]


LONG = "x" * 1_500


@pytest.mark.parametrize("when", ["queued", "paused", "scheduled"])
def test_a_longer_text_takes_its_share(service: Service, attacker: Customer, victim: Customer, when: str) -> None:
    """Its messages cost ten times as much as when the send was accepted."""
    send = attacker.bulk(60, **({"send_at": ahead()} if when == "scheduled" else {}))
    attacker.bulk(10)
    if when == "paused":
        attacker.post(send, "pause")
    attacker.change(send, message=LONG)
    if when == "paused":
        attacker.post(send, "resume")
    elif when == "scheduled":
        attacker.change(send, send_at=None)
    victim.bulk(200)
    assert 2 <= take(service, 22).count(attacker.id) <= 4


def test_a_text_that_is_corrected_delays_its_send_no_further(service: Service, attacker: Customer) -> None:
    send = attacker.bulk(60)
    before = turns(service, send)
    attacker.change(send, message=LONG)
    assert turns(service, send)[-1] > before[-1]
    attacker.change(send, message="Hi")
    assert turns(service, send) == before


A_RESULT = text(
    """
    INSERT INTO message (id, phone, submitted_at, status, price, attempts)
    SELECT CAST(overlay(id::text placing '0001' from 33) AS uuid), 1, now(), 'sent', 1, 1 FROM batch WHERE send_id = :id
    """
)


def test_a_batch_of_which_a_part_was_sent_keeps_its_turn(service: Service, attacker: Customer) -> None:
    """Or pausing and resuming would put what is left of many batches at the clock."""
    send = attacker.bulk(10)
    service.execute("UPDATE batch SET epoch = 1, next_index = 2 WHERE send_id = :id", id=send)
    service.execute(A_RESULT, id=send)
    before = turns(service, send)
    attacker.post(send, "pause")
    assert turns(service, send) == before


def test_what_was_sent_of_a_canceled_send_counts(service: Service, attacker: Customer, victim: Customer) -> None:
    """An account that sends, cancels the rest and sends again has no more than its share."""
    victim.bulk(400)
    took = []
    for _ in range(5):
        send = attacker.bulk(100)
        took += take(service, 4)
        change_state(service, attacker, "held", "done")
        attacker.post(send, "cancel")
    assert 5 <= took.count(attacker.id) <= len(took) / 2


def test_a_send_planned_for_later_does_not_delay_one_that_is_accepted_in_the_same_transaction(
    service: Service, victim: Customer
) -> None:
    def planned() -> Draft:
        draft = single(victim.id)
        draft.send_at = draft.created_at + timedelta(hours=1)
        return draft

    drafts = [*(planned() for _ in range(20)), single(victim.id), planned()]
    begin = service.transact(fair_queueing.clock)
    service.transact(commit_sends, drafts)
    now = drafts[-2]
    assert turns(service, str(now.id)) == [begin + virtual_time(1, now.lane)]
    assert turns(service, str(drafts[-1].id)) == [0], "placed when it is due"


@pytest.mark.parametrize("what", ["a send", "a page of a group"])
def test_what_an_account_sends_at_the_same_moment_does_not_share_a_turn(service: Service, what: str) -> None:
    """Through two API processes, or while a worker expands a group: the account would have a share for each."""
    first, second = single(service.account_id), single(service.account_id)

    def accept() -> object:
        return service.transact(commit_sends, [second])

    if what == "a page of a group":
        group = scheduled(service, service.new_group(phones(1)))
        service.execute("UPDATE send SET state = 'expanding' WHERE id = :id", id=group)
    with ThreadPoolExecutor(1) as pool, service.engine.begin() as connection:
        commit_sends(connection, [first])
        other = pool.submit(accept if what == "a send" else lambda: expand(service.engine))
        wait_until_somebody_waits(service.engine)
        connection.commit()
        other.result()
    later = str(second.id) if what == "a send" else group
    assert turns(service, later)[0] > turns(service, str(first.id))[0]


def test_a_shorter_text_keeps_the_turns_of_a_send_before_others(service: Service, attacker: Customer) -> None:
    send = attacker.bulk(60, message=LONG)
    attacker.bulk(10)
    before = turns(service, send)
    attacker.change(send, message="Hi")
    assert turns(service, send) == before
