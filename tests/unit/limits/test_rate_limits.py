"""Token buckets, of one process and of several that count together."""

import random
import time
from types import SimpleNamespace

import fakeredis
import pytest
from redis import Redis
from redis.exceptions import RedisError

from api.limits import rate_limits
from api.limits.rate_limits import Buckets
from api.limits.shared_token_buckets import SharedRateLimit
from tests.harness.times import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(monotonic=made))
    monkeypatch.setattr(time, "time", made)  # that of the fake Redis
    return made


def taken(buckets: Buckets, times: int, key: object = "a", rate: float | None = None) -> int:
    return sum(buckets.take(key, rate=rate) >= 0 for _ in range(times))


def test_it_works(clock: Clock) -> None:
    buckets = Buckets(10)
    assert [buckets.take("a") for _ in range(3)] == [9, 8, 7]
    assert taken(buckets, 20) == 7
    assert buckets.take("a") == -1
    assert buckets.wait(-1) == 1
    assert taken(buckets, 20, "b") == 10
    clock.now += 0.5
    assert taken(buckets, 20) == 5
    clock.now += 100
    assert taken(buckets, 20) == 10


def test_a_key_may_have_a_rate_of_its_own(clock: Clock) -> None:
    buckets = Buckets(100)
    assert taken(buckets, 50, rate=3) == 3
    clock.now += 2
    assert taken(buckets, 50, rate=3) == 3
    assert buckets.wait(-1, 0.1) == 11


def test_no_more_keys_are_remembered_than_fit(clock: Clock) -> None:
    buckets = Buckets(1, max_keys=3)
    for key in range(100):
        assert buckets.take(key) == 0
    assert len(buckets._buckets) == 3


def together(count: int, redis: Redis, rate: float = 100) -> list[tuple[Buckets, SharedRateLimit]]:
    made = [Buckets(rate) for _ in range(count)]
    return [(buckets, SharedRateLimit(redis, {"requests": buckets})) for buckets in made]


@pytest.mark.parametrize("seed", range(5))
def test_processes_together_keep_the_limit_in_any_order_of_requests(clock: Clock, seed: int) -> None:
    chance = random.Random(seed)
    processes = together(3, fakeredis.FakeRedis(), rate=20)
    accepted, began = 0, clock.now
    for _ in range(600):
        buckets, sharing = chance.choice(processes)
        accepted += taken(buckets, chance.randrange(12))
        if chance.random() < 0.7:
            sharing.count()
        clock.now += chance.random() * 0.1
    for _, sharing in processes:
        sharing.count()
    assert accepted <= 20 * (clock.now - began) + 3 * 20 + 20


def test_one_process_alone_gets_all_of_the_limit(clock: Clock) -> None:
    ((buckets, sharing),) = together(1, fakeredis.FakeRedis())
    accepted, began = 0, clock.now
    for _ in range(100):
        accepted += taken(buckets, 50)
        sharing.count()
        clock.now += 0.1
    assert 100 * (clock.now - began) <= accepted <= 100 * (clock.now - began) + 100


def test_unused_counts_expire_in_redis(clock: Clock) -> None:
    redis = fakeredis.FakeRedis()
    ((buckets, sharing),) = together(1, redis)
    taken(buckets, 50)
    sharing.count()
    (key,) = redis.keys()
    assert key == b"bulksms:rate:requests:a"
    assert 0 < redis.pttl(key) <= 2000


def test_without_redis_each_process_counts_for_itself(clock: Clock) -> None:
    server = fakeredis.FakeServer()
    server.connected = False
    ((buckets, sharing),) = together(1, fakeredis.FakeRedis(server=server))
    assert taken(buckets, 500) == 100
    with pytest.raises(RedisError):
        sharing.count()
    clock.now += 1
    assert taken(buckets, 500) == 100
    server.connected = True
    sharing.count()
    assert taken(buckets, 1) == 0


def test_tokens_taken_during_the_exchange_with_redis_stay_taken(clock: Clock) -> None:
    buckets = Buckets(10)
    assert taken(buckets, 4) == 4
    assert buckets.taken() == [("a", 10, 4.0)]
    assert taken(buckets, 3) == 3  # while the others are asked
    buckets.correct("a", 6.0)  # as all processes have it: less what was told to them
    assert buckets.left("a") == 3
