"""All workers together stay at the carrier's rate."""

import threading
import time

import fakeredis
import pytest
from redis.exceptions import ConnectionError as Away

from worker.pacing import BURST, Pacer

RATE = 1000.0


class Broken:
    """A Redis that is away."""

    def register_script(self, _: str) -> object:
        def script(**_: object) -> float:
            raise Away("away")

        return script


def take_for(pacer: Pacer, seconds: float, segments: int, stop: threading.Event) -> int:
    """Segments that one worker gets in that time."""
    taken = 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert pacer.take("carrier", RATE, segments, stop)
        taken += segments
    return taken


def test_it_works() -> None:
    pacer = Pacer(fakeredis.FakeRedis(), lambda: 1)
    taken = take_for(pacer, 0.5, 10, threading.Event())
    assert 0.8 * RATE * 0.5 < taken <= RATE * (0.5 + BURST) + 20


def test_several_workers_share_one_bucket() -> None:
    server = fakeredis.FakeServer()
    taken: list[int] = []

    def work() -> None:
        pacer = Pacer(fakeredis.FakeRedis(server=server), lambda: 4)
        taken.append(take_for(pacer, 0.5, 10, threading.Event()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(taken) <= RATE * (0.5 + BURST) + 4 * 20


@pytest.mark.parametrize("workers", [1, 4])
def test_without_redis_each_takes_its_share(workers: int) -> None:
    pacer = Pacer(Broken(), lambda: workers)  # type: ignore[arg-type]
    taken = take_for(pacer, 0.5, 10, threading.Event())
    assert 0.7 * RATE / workers * 0.5 < taken <= RATE / workers * 0.5 + 30


def test_no_rate_is_no_wait() -> None:
    began = time.monotonic()
    assert Pacer(fakeredis.FakeRedis(), lambda: 1).take("carrier", 0.0, 10**6, threading.Event())
    assert time.monotonic() - began < 0.1


def test_a_stop_ends_the_wait() -> None:
    pacer = Pacer(fakeredis.FakeRedis(), lambda: 1)
    stop = threading.Event()
    stop.set()
    assert pacer.take("carrier", 1.0, 1, threading.Event())
    assert not pacer.take("carrier", 1.0, 100, stop)
