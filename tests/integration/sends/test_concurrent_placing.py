"""No account is placed behind all of another one's backlog, whatever they sent before."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from shared.db.connection import transaction
from shared.sends.fair_queueing import RAISE_IDLE_CLOCK
from tests.harness.service import Service
from tests.integration.sends.test_overtaken import (
    Customer,
    attacker,
    shared_equally,
    small_batches,
    take,
    victim,
)

__all__ = ["attacker", "small_batches", "victim"]


CHANGE_STATE = text("UPDATE batch SET state = CAST(:new AS batch_state) WHERE account_id = :id AND state = :old")


def change_state(service: Service, customer: Customer, old: str, new: str) -> None:
    with service.engine.begin() as connection:
        connection.execute(CHANGE_STATE, {"id": customer.id, "old": old, "new": new})


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
    with transaction(service.engine) as connection:
        connection.execute(RAISE_IDLE_CLOCK)


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
    with invisible(service, attacker):
        time.sleep(1.1)
        victim.bulk(50)
    shared_equally(service, attacker, victim)


def test_the_clock_of_an_empty_queue_is_the_last_one(service: Service, attacker: Customer, victim: Customer) -> None:
    """Accepted just before the queue was empty: a send that comes after that does not go before all of it."""
    victim.bulk(400)
    take(service, 15)
    raise_idle_clock(service)
    attacker.bulk(50)
    with invisible(service, attacker):
        sent(service, victim)
        victim.bulk(400)
    shared_equally(service, attacker, victim, cycles=8)


@pytest.mark.parametrize("what", ["cancel", "pause"])
def test_what_was_stopped_counts_against_nobody_once_the_queue_was_empty(
    service: Service, attacker: Customer, victim: Customer, what: str
) -> None:
    victim.post(victim.bulk(400), what)
    raise_idle_clock(service)
    attacker.bulk(300)
    victim.bulk(50)
    shared_equally(service, attacker, victim)
