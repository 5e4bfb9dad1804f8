"""How messages to a phone are counted: within an hour, by account and lane, by all processes together."""

import fakeredis
import pytest
from redis.exceptions import RedisError

from shared.sends.recipient_counts import HOUR, RecipientCounts, RecipientSharing
from tests.harness.times import Clock

PHONE, OTHER = "254711000000", "254711000001"


@pytest.fixture
def clock() -> Clock:
    return Clock(1000 * HOUR)


@pytest.fixture
def counts(clock: Clock) -> RecipientCounts:
    return RecipientCounts(clock=clock)


def taken(counts: RecipientCounts, tries: int, limit: int = 3, phone: str = PHONE) -> int:
    """How many of so many messages are within the limit."""
    return sum(counts.take(1, 1, phone, limit) == 0 for _ in range(tries))


def test_it_works(counts: RecipientCounts) -> None:
    assert taken(counts, 10) == 3
    assert taken(counts, 10, phone=OTHER) == 3
    assert counts.take(2, 1, PHONE, 3) == counts.take(1, 2, PHONE, 3) == 0


def test_a_long_message_counts_once_in_whatever_order_its_parts_come(counts: RecipientCounts) -> None:
    first, second, third = (7, 3), (8, 2), (9, 2)
    order = [first, second, first, third, second, third, first]
    refused = [message for message in order if counts.take(1, 1, PHONE, 2, message)]
    assert refused == [third, third]
    assert counts.take(1, 1, PHONE, 2, first) > 0  # another message with the same reference


def test_a_long_message_is_uncounted_with_its_last_part(counts: RecipientCounts) -> None:
    for _ in range(3):
        assert counts.take(1, 1, PHONE, 1, (7, 3)) == 0
    for _ in range(2):
        counts.give_back(1, 1, [PHONE], (7, 3))
    assert taken(counts, 1, 1) == 0
    counts.give_back(1, 1, [PHONE], (7, 3))
    assert taken(counts, 2, 1) == 1


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_there_is_room_after_the_wait_and_not_before(counts: RecipientCounts, clock: Clock, limit: int) -> None:
    clock.now += 600
    assert taken(counts, 10, limit) == limit
    wait = counts.take(1, 1, PHONE, limit)
    assert 0 < wait <= 2 * HOUR
    clock.now += wait - 2
    assert counts.take(1, 1, PHONE, limit) > 0
    clock.now += 3
    assert counts.take(1, 1, PHONE, limit) == 0


def test_the_limit_is_not_doubled_at_the_edge_of_a_window(counts: RecipientCounts, clock: Clock) -> None:
    clock.now += HOUR - 1
    assert taken(counts, 100, 20) == 20
    clock.now += 2
    assert taken(counts, 100, 20) <= 1
    clock.now += HOUR / 2
    assert 8 <= taken(counts, 100, 20) <= 11
    clock.now += 3 * HOUR
    assert taken(counts, 100, 20) == 20


def test_nothing_is_forgotten_when_the_clock_steps_back_over_a_full_hour(counts: RecipientCounts, clock: Clock) -> None:
    clock.now += HOUR
    assert taken(counts, 100, 20) == 20
    clock.now -= 1
    assert taken(counts, 100, 20) == 0
    clock.now += 3 * HOUR
    assert taken(counts, 100, 20) == 20


def test_a_list_is_counted_with_its_own_repeated_phones(counts: RecipientCounts) -> None:
    assert counts.over(1, 1, [PHONE, OTHER], 1) == set()
    assert counts.over(1, 1, [PHONE, OTHER, PHONE, PHONE, PHONE], 3) == {4}
    counts.add(1, 1, [PHONE, PHONE], 3)
    assert counts.over(1, 1, [PHONE, OTHER, PHONE, PHONE], 3) == {2, 3}
    counts.add(1, 1, [OTHER], 3)
    assert counts.over(1, 1, [OTHER], 1) == {0}


def test_a_message_that_is_not_sent_is_not_counted(counts: RecipientCounts) -> None:
    assert taken(counts, 3) == 3
    counts.give_back(1, 1, [PHONE])
    assert taken(counts, 3) == 1
    counts.take(1, 1, OTHER, 1)
    counts.give_back(1, 1, [OTHER, "254711999999"])
    assert counts.take(1, 1, OTHER, 1) == 0


def test_memory_is_bounded_and_the_busiest_phones_are_remembered_longest(clock: Clock) -> None:
    counts = RecipientCounts(capacity=100, clock=clock)
    assert taken(counts, 50, 50) == 50
    for number in range(1000):
        counts.take(1, 1, f"2547{number:08}", 50)
    for number in range(500):
        counts.add(1, 1, [f"2548{number:08}"] * 3, 9)
    assert counts.take(1, 1, PHONE, 50) > 0
    assert len(counts.changes()[1]) <= 101


def test_processes_count_together(clock: Clock) -> None:
    redis = fakeredis.FakeRedis()
    each = [RecipientCounts(clock=clock) for _ in range(3)]
    shared = [RecipientSharing(redis, counts, "secret") for counts in each]

    def share() -> None:
        for _ in range(2):
            for sharing in shared:
                sharing.share()

    got = 0
    for _ in range(40):
        got += sum(taken(counts, 1, 10) for counts in each)
        share()
    assert 10 <= got <= 12
    assert all(PHONE.encode() not in key for key in redis.scan_iter())
    clock.now += HOUR
    late = RecipientCounts(clock=clock)
    sharing = RecipientSharing(redis, late, "secret")
    assert taken(late, 3, 10) == 3
    sharing.share()
    assert taken(late, 10, 10) == 0, "what others counted in the hour before"


def test_without_redis_each_process_counts_for_itself(counts: RecipientCounts) -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    redis = fakeredis.FakeRedis(server=server)
    assert taken(counts, 3, 5) == 3
    with pytest.raises(RedisError):
        RecipientSharing(redis, counts, "secret").share()
    assert taken(counts, 10, 5) == 2
