"""The fair queue: shares by weight, nobody waits behind a crowd, nobody starves."""

import heapq
import time
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.lifecycle import LANES
from shared.sends.fair_queueing import MICROSECONDS_PER_SEGMENT, turn, virtual_time

AUTHENTICATION, TRANSACTIONAL, MARKETING = range(len(LANES))
BATCH = 1000


class Queue:
    """The queue as the API and the workers keep it: a turn for each batch, and the smallest is next."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, int, str]] = []
        self.last: Counter[tuple[str, int]] = Counter()
        self.number = 0

    def put(
        self, account: str, batches: int, lane: int = TRANSACTIONAL, weight: int = 1, segments: int = BATCH
    ) -> None:
        begin = max(self.clock(), self.last[account, lane])
        for _ in range(batches):
            self.number += 1
            heapq.heappush(self.waiting, (turn(begin, segments, lane, weight), self.number, account))
            begin += virtual_time(segments, lane, weight)
        self.last[account, lane] = begin

    def clock(self) -> int:
        return self.waiting[0][0] if self.waiting else time.time_ns() // 1000

    def take(self) -> str:
        return heapq.heappop(self.waiting)[2]

    def served(self, turns: int) -> list[str]:
        return [self.take() for _ in range(turns)]


def test_it_works() -> None:
    queue = Queue()
    queue.put("first", 2)
    queue.put("second", 2)
    assert sorted(queue.served(3)) == ["first", "first", "second"]


def test_a_newcomer_is_served_next_however_long_the_queue_is() -> None:
    queue = Queue()
    queue.put("crowd", 10_000)
    queue.served(500)
    queue.put("newcomer", 1)
    assert "newcomer" in queue.served(3)


def test_a_big_batch_among_many_accounts_waits_no_longer_than_a_small_one() -> None:
    queue = Queue()
    for number in range(100):
        queue.put(f"crowd {number}", 50, segments=100)
    queue.served(500)
    queue.put("newcomer", 1, segments=1000)
    assert "newcomer" in queue.served(102)


def test_equal_accounts_get_equal_shares() -> None:
    queue = Queue()
    for account, batches in (("ten", 10_000), ("two", 2_000), ("one", 1_000)):
        queue.put(account, batches)
    shares = Counter(queue.served(900))
    assert max(shares.values()) - min(shares.values()) <= 3
    assert len(shares) == 3


@pytest.mark.parametrize("weight", [2, 5])
def test_a_weight_is_a_share(weight: int) -> None:
    queue = Queue()
    queue.put("light", 5_000)
    queue.put("heavy", 5_000, weight=weight)
    shares = Counter(queue.served(1_200))
    assert shares["heavy"] == pytest.approx(weight * shares["light"], rel=0.05)


def test_a_code_does_not_wait_for_offers_of_the_same_account() -> None:
    queue = Queue()
    queue.put("shop", 10_000, MARKETING)
    queue.served(10)
    queue.put("shop", 1, AUTHENTICATION, segments=1)
    before = queue.clock()
    assert queue.waiting[0] == min(queue.waiting)
    taken = list(islice(iter(lambda: heapq.heappop(queue.waiting), None), 2))
    assert any(number == queue.number for _, number, _ in taken)
    assert taken[0][0] == before


def test_an_idle_account_saves_up_no_share() -> None:
    queue = Queue()
    queue.put("idle", 1)
    queue.put("busy", 2_000)
    queue.served(1_000)
    queue.put("idle", 1_000)
    shares = Counter(queue.served(200))
    assert shares["idle"] == pytest.approx(shares["busy"], abs=2)


@given(st.integers(1, 10**9), st.sampled_from(range(len(LANES))), st.integers(1, 1000))
def test_a_cost_is_a_whole_number_of_at_least_one(segments: int, lane: int, weight: int) -> None:
    made = virtual_time(segments, lane, weight)
    assert isinstance(made, int)
    assert made >= 1
    assert virtual_time(segments + 1, lane, weight) >= made
    assert virtual_time(segments, lane, weight + 1) <= made


def test_the_largest_queue_fits_the_column() -> None:
    longest = time.time_ns() // 1000 + virtual_time(10_000_000 * 49, MARKETING) * 1000
    assert longest < 2**63
    assert MICROSECONDS_PER_SEGMENT >= 10
