"""No account is placed behind all of another one's backlog, whatever they sent, stopped or planned before."""

import time
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from api.commit.commit import commit_sends
from api.commit.draft import Draft
from shared.db.connection import transaction
from shared.sends import fair_queueing
from shared.sends.fair_queueing import RAISE_LAST_CLOCK, virtual_time
from shared.sends.holding import hold
from tests.harness.drafts import single
from tests.harness.service import Service
from tests.integration.sends.test_overtaken import (
    Customer,
    attacker,
    shared_equally,
    small_batches,
    take,
    tomorrow,
    turns,
    victim,
)

__all__ = ["attacker", "small_batches", "victim"]


def sent(service: Service, customer: Customer) -> None:
    """All that the customer has in the queue is sent."""
    with service.engine.begin() as connection:
        over = text("UPDATE batch SET state = 'done' WHERE account_id = :id AND state = 'queued'")
        connection.execute(over, {"id": customer.id})


def note_clock(service: Service) -> None:
    with transaction(service.engine) as connection:
        connection.execute(RAISE_LAST_CLOCK)


def test_what_was_sent_from_an_empty_queue_does_not_count_later(
    service: Service, attacker: Customer, victim: Customer
) -> None:
    victim.bulk(1)
    sent(service, victim)
    attacker.bulk(300)
    victim.bulk(50)
    shared_equally(service, attacker, victim)


def test_an_empty_queue_is_at_the_same_place_for_all(service: Service, attacker: Customer, victim: Customer) -> None:
    """Accepted while the other's send is not visible yet: neither goes behind all of the other. Nor does it matter how
    long the other's transaction takes."""
    attacker.bulk(300)
    with service.engine.begin() as connection:
        hide = text("UPDATE batch SET state = 'held' WHERE account_id = :id AND state = 'queued'")
        connection.execute(hide, {"id": attacker.id})
    time.sleep(1.1)
    victim.bulk(50)
    with service.engine.begin() as connection:
        show = text("UPDATE batch SET state = 'queued' WHERE account_id = :id AND state = 'held'")
        connection.execute(show, {"id": attacker.id})
    shared_equally(service, attacker, victim)


def test_the_clock_of_an_empty_queue_is_the_last_one(service: Service, attacker: Customer, victim: Customer) -> None:
    """Accepted just before the queue was empty: a send that comes after that does not go before all of it."""
    victim.bulk(400)
    take(service, 15)
    note_clock(service)
    attacker.bulk(50)
    with service.engine.begin() as connection:
        hide = text("UPDATE batch SET state = 'held' WHERE account_id = :id AND state = 'queued'")
        connection.execute(hide, {"id": attacker.id})
    sent(service, victim)
    victim.bulk(400)
    with service.engine.begin() as connection:
        show = text("UPDATE batch SET state = 'queued' WHERE account_id = :id AND state = 'held'")
        connection.execute(show, {"id": attacker.id})
    shared_equally(service, attacker, victim, cycles=8)


@pytest.mark.parametrize("what", ["canceled", "paused", "held", "scheduled"])
def test_what_is_not_in_the_queue_does_not_count(
    service: Service, attacker: Customer, victim: Customer, what: str
) -> None:
    """A mistaken campaign that was canceled, or tomorrow's, does not delay what its account sends now."""
    attacker.bulk(300)
    mistaken = victim.bulk(400, **({"send_at": tomorrow()} if what == "scheduled" else {}))
    if what == "held":
        with transaction(service.engine) as connection:
            hold(connection, UUID(mistaken), "test")
    elif what != "scheduled":
        victim.post(mistaken, {"canceled": "cancel", "paused": "pause"}[what])
    victim.bulk(50)
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


def test_a_send_planned_for_later_does_not_delay_one_that_is_accepted_in_the_same_transaction(
    service: Service, victim: Customer
) -> None:
    def planned() -> Draft:
        draft = single(victim.id)
        draft.send_at = draft.created_at + timedelta(hours=1)
        return draft

    drafts = [*(planned() for _ in range(20)), single(victim.id)]
    with service.engine.begin() as connection:
        begin = fair_queueing.clock(connection)
        commit_sends(connection, drafts)
    assert turns(service, str(drafts[-1].id)) == [begin + virtual_time(1, drafts[-1].lane)]
