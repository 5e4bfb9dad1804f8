"""The queue's clock, for a reader that saw it a moment ago."""

import time

import pytest
from sqlalchemy import text

from shared.db.connection import driver_of
from shared.sends.fair_queueing import (
    CLOCK,
    CLOCK_FROM,
    IDLE_CLOCK,
    CachedClock,
)
from tests.harness.service import Service
from tests.harness.times import ahead

QUEUED = text("UPDATE batch SET state = 'queued', turn = :turn WHERE send_id = :id")
OVER = text("UPDATE batch SET state = 'done' WHERE state = 'queued'")


def queue(service: Service, *turns: int) -> None:
    """Have a batch wait in each of these turns, and no other."""
    tomorrow = ahead()
    sends = [service.bulk([f"2547800000{number:02}"], send_at=tomorrow).json["send_id"] for number in range(len(turns))]
    service.execute(OVER)
    for send, turn in zip(sends, turns, strict=True):
        service.execute(QUEUED, id=send, turn=turn)


def clocks(service: Service, begin: int) -> tuple[int | None, int | None]:
    """The clock from that turn on, and that of the whole queue."""
    with service.engine.begin() as connection:
        seen = (
            driver_of(connection)
            .execute(f"SELECT coalesce({CLOCK_FROM}, {IDLE_CLOCK})".encode(), {"clock": begin})
            .fetchone()
        )
        assert seen is not None
        return seen[0], connection.execute(text(f"SELECT {CLOCK}")).scalar()


@pytest.mark.parametrize(
    ("begin", "expected"), [(0, 100), (100, 100), (101, 300), (300, 300), (301, 100)], ids=lambda value: str(value)
)
def test_the_clock_is_the_smallest_turn_from_there_on_or_else_of_all(
    service: Service, begin: int, expected: int
) -> None:
    queue(service, 300, 100)
    assert clocks(service, begin) == (expected, 100)


def test_a_batch_without_a_turn_does_not_count(service: Service) -> None:
    queue(service, 300, 0)
    assert clocks(service, 0) == (300, 300)


def test_a_batch_that_is_being_sent_counts(service: Service) -> None:
    """It comes back with a turn that is only a little later: a new send must not wait until all of it is sent."""
    queue(service, 300, 100)
    service.execute("UPDATE batch SET state = 'sending' WHERE state = 'queued' AND turn = 100")
    assert clocks(service, 0) == (100, 100)
    service.execute("UPDATE batch SET state = 'done' WHERE state = 'sending'")


def test_the_clock_of_an_empty_queue_is_where_it_was_last(service: Service) -> None:
    """And it never goes back."""
    queue(service)
    before = clocks(service, 0)[0]
    assert before is not None
    service.worker.dispatcher.stop.set()
    for turn, expected in ((before + 10_000_000, before + 10_000_000), (before + 300, before + 10_000_000)):
        queue(service, turn)
        service.worker.sweeper.recover_and_wake()
        queue(service)
        assert clocks(service, 0) == clocks(service, 5) == (expected, None)


def test_the_whole_queue_is_searched_again_from_time_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("shared.sends.fair_queueing.time.monotonic", lambda: now)
    clock = CachedClock()
    assert clock.begin() == 0
    clock.note(0, 700)
    assert clock.begin() == 700
    now += CachedClock.CACHE_SECONDS / 2
    clock.note(700, 900)
    assert clock.begin() == 700, "what was seen of a part of the queue is no beginning"
    now += CachedClock.CACHE_SECONDS
    assert clock.begin() == 0


def test_a_batch_that_comes_back_with_an_old_turn_is_seen(service: Service) -> None:
    """Of a send that was stopped: a new one is queued behind what is being sent, not behind all of it."""
    queue(service, 2_000_000_000)
    turn_of = text("SELECT turn FROM batch WHERE send_id = :id")

    def accepted_at() -> int:
        send = service.post("/sms/send", sender_id="ACME", phone="254780000099", message="Hi").json["send_id"]
        return int(service.scalar(turn_of, id=send))

    service.execute("UPDATE account SET turns = ARRAY[0, 0, 0]")
    service.execute("UPDATE installation SET held_since = now()")
    try:
        assert accepted_at() >= 2_000_000_000
        queue(service, 1_000)
        service.execute("UPDATE account SET turns = ARRAY[0, 0, 0]")
        time.sleep(CachedClock.CACHE_SECONDS + 0.05)
        assert 1_000 <= accepted_at() < 1_000_000
    finally:
        service.execute("UPDATE installation SET held_since = NULL")
        service.execute(OVER)
