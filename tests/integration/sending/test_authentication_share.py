"""A cycle takes what authentication is owed first, and the rest in fair order."""

from collections.abc import Iterator
from itertools import count

import pytest
from sqlalchemy import text

from tests.harness.service import Service
from tests.harness.times import ahead
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.next_batches import ClaimRequest

AUTHENTICATION, TRANSACTIONAL, MARKETING = range(3)
NUMBERS = count(254700000000)

RELEASE = text("UPDATE send SET state = 'queued', send_at = NULL WHERE id = :id")
QUEUE = text("UPDATE batch SET state = 'queued', turn = :turn, carrier = :carrier WHERE send_id = :id")
TURN = text("SELECT turn FROM batch WHERE send_id = :id")
EMPTY = text("DELETE FROM batch WHERE state IN ('queued', 'sending')")


@pytest.fixture(autouse=True)
def empty(service: Service) -> Iterator[None]:
    yield
    service.execute(EMPTY)


def waits(service: Service, category: str, phones: int, turn: int, carrier: str | None = None) -> None:
    """Let so many messages wait at that place in fair order."""
    numbers = [str(next(NUMBERS)) for _ in range(phones)]
    send = service.bulk(numbers, category=category, send_at=ahead()).json["send_id"]
    service.execute(RELEASE, id=send)
    service.execute(QUEUE, id=send, turn=turn, carrier=carrier)


def claimed(service: Service, budget: int, owed: int, carrier: str | None = None) -> list[tuple[int, int]]:
    """Lane and messages of each batch that a cycle claims, in order."""
    batches: list[ClaimedBatch] = claim(
        service.engine, ClaimRequest(budget=budget, window_size=10, lease=15.0, queue=carrier, owed=owed)
    )
    return [(batch.lane, len(batch.indexes)) for batch in batches]


def test_it_works(service: Service) -> None:
    waits(service, "marketing", 30, turn=1)
    waits(service, "transactional", 30, turn=2)
    waits(service, "authentication", 30, turn=3)
    assert claimed(service, 50, owed=10) == [(AUTHENTICATION, 10), (MARKETING, 30), (TRANSACTIONAL, 10)]


def test_each_carrier_has_its_own_share(service: Service) -> None:
    waits(service, "marketing", 60, turn=1, carrier="one")
    waits(service, "authentication", 30, turn=2, carrier="one")
    waits(service, "marketing", 60, turn=1, carrier="two")
    assert claimed(service, 50, 10, "two") == [(MARKETING, 50)]
    assert claimed(service, 50, 10, "one") == [(AUTHENTICATION, 10), (MARKETING, 40)]


def test_a_new_send_does_not_wait_for_the_end_of_what_is_being_sent(service: Service) -> None:
    """What is being sent comes back with a turn a little later, and what waits behind it is far away."""
    waits(service, "marketing", 60, turn=1000)
    waits(service, "marketing", 60, turn=500_000)
    assert claimed(service, 50, owed=0) == [(MARKETING, 50)]
    service.worker.dispatcher.stop.set()
    send = service.send(category="authentication").json["send_id"]
    assert service.scalar(TURN, id=send) == 1001
