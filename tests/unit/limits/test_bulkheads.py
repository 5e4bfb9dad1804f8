"""What one owner may hold, and whose turn it is."""

import asyncio
import threading
from collections.abc import Callable

from api.limits.bulkheads import FairThreadPool, Holdings, Permits


class Work:
    """Jobs that go on until they are let go, and the order in which they began."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.release = threading.Event()

    def job(self, name: str) -> Callable[[], str]:
        def work() -> str:
            self.began.append(name)
            self.release.wait(120)
            return name

        return work


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.005)


def test_each_owner_has_a_share_of_its_own() -> None:
    places = Holdings()
    assert [places.acquire(1, 2) for _ in range(3)] == [True, True, False]
    assert places.acquire("198.51.100.1", 1) and places.held[1] == 2
    places.release(1)
    assert places.acquire(1, 2) and not places.acquire(1, 2)
    for _ in range(2):
        places.release(1)
    assert places.held == {"198.51.100.1": 1}


def test_an_owner_without_a_free_place_waits_for_one() -> None:
    async def run() -> None:
        permits, release, held = Permits(), asyncio.Event(), list[str]()

        async def hold(owner: int, name: str) -> None:
            async with permits.of(owner, 1):
                held.append(name)
                await release.wait()

        holders = [(1, "first"), (1, "second"), (1, "third"), (1, "fourth"), (2, "other")]
        first, second, *others = (asyncio.ensure_future(hold(*holder)) for holder in holders)
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        assert held == ["first", "other"]
        release.set()
        await asyncio.gather(first, *others)
        assert held == ["first", "other", "third", "fourth"]
        assert 2 not in permits._semaphores, "and nobody is remembered"

    asyncio.run(run())


def test_nobody_has_more_threads_than_its_share() -> None:
    async def run() -> None:
        pool, work = FairThreadPool("test", 4, 2), Work()
        jobs = [pool.submit(1, work.job("first")) for _ in range(50)]
        other = pool.submit(2, work.job("second"))
        await until(lambda: len(work.began) == 3)
        assert sorted(work.began) == ["first", "first", "second"]
        work.release.set()
        assert await asyncio.gather(other, *jobs) == ["second"] + ["first"] * 50

    asyncio.run(run())


def test_owners_take_turns() -> None:
    """An owner with a hundred that wait is not before an owner with one."""

    async def run() -> None:
        pool, work = FairThreadPool("test", 1, 1), Work()
        work.release.set()
        jobs = [pool.submit(1, work.job("first")) for _ in range(100)]
        jobs += [pool.submit(owner, work.job(f"one of {owner}")) for owner in (2, 3)]
        await asyncio.gather(*jobs)
        assert set(work.began[1:4]) == {"first", "one of 2", "one of 3"}

    asyncio.run(run())


def test_a_waiting_job_can_be_withdrawn_but_a_running_one_cannot() -> None:
    async def run() -> None:
        pool, work = FairThreadPool("test", 1, 1), Work()
        working, waiting = pool.submit(1, work.job("working")), pool.submit(1, work.job("waiting"))
        last = pool.submit(1, work.job("last"))
        assert pool.withdraw(1, waiting) and not pool.withdraw(1, waiting)
        assert not pool.withdraw(1, working) and not pool.withdraw(2, last)
        work.release.set()
        assert [await working, await last] == ["working", "last"] and work.began == ["working", "last"]

    asyncio.run(run())


def test_a_running_job_that_nobody_waits_for_still_holds_its_thread() -> None:
    async def run() -> None:
        pool, work = FairThreadPool("test", 1, 1), Work()
        working = pool.submit(1, work.job("working"))
        working.cancel()
        await asyncio.sleep(0)
        waiting, last = pool.submit(1, work.job("waiting")), pool.submit(2, work.job("last"))
        assert pool.withdraw(1, waiting)
        work.release.set()
        assert await last == "last" and work.began == ["working", "last"]

    asyncio.run(run())
