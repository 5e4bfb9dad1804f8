"""How old the revocations may be that a request goes by, and who reads them again."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import OperationalError

from api.auth import tokens
from api.auth.revocations import Revocations
from api.auth.tokens import MAX_AGE_SECONDS, Tokens
from api.event_loop import NeedsThread
from api.problems import Problem
from tests.harness.house import wait_until

FIRST, SECOND, THIRD = ({number} for number in (1, 2, 3))
"""The suspended accounts, as the first, second and third read find them."""


class Lock:
    """A lock that counts who has asked for it."""

    def __init__(self, count: Callable[[], object]) -> None:
        self._lock, self._count = threading.Lock(), count

    def acquire(self, *, blocking: bool) -> bool:
        self._count()
        return self._lock.acquire(blocking)

    def release(self) -> None:
        self._lock.release()


class Process:
    """The tokens of a process, read for the first time at 0 s. Each later read lasts until `goes_on` is set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.reads = self.asked = 0
        self.fails = False
        self.goes_on = threading.Event()
        self.background: list[Callable[[], object]] = []
        patch.setattr(tokens, "time", SimpleNamespace(monotonic=lambda: self.now))
        patch.setattr(tokens, "threading", SimpleNamespace(Lock=lambda: Lock(self._count)))
        patch.setattr(tokens, "in_background", self.background.append)
        patch.setattr(tokens, "read_revocations", self._read)
        self.tokens = Tokens(create_engine("postgresql+psycopg://"), "secret")
        self.goes_on.set()
        assert self.accounts() == FIRST
        self.goes_on.clear()

    def accounts(self) -> frozenset[int]:
        return self.tokens.revocations().accounts

    async def accounts_on_loop(self) -> frozenset[int]:
        return self.accounts()

    def come(self, threads: ThreadPoolExecutor, count: int) -> list[Future[frozenset[int]]]:
        """Requests in threads, each of which has asked for the lock."""
        before = self.asked
        coming = [threads.submit(self.accounts) for _ in range(count)]
        wait_until(lambda: self.asked == before + count, 60, "the requests")
        return coming

    def come_during_a_read(self, threads: ThreadPoolExecutor, count: int) -> list[Future[frozenset[int]]]:
        """The request that reads, and then others."""
        before = self.reads
        reader = self.come(threads, 1)
        wait_until(lambda: self.reads == before + 1, 60, "the read")
        return reader + self.come(threads, count)

    def _count(self) -> None:
        self.asked += 1

    def _read(self, _engine: Engine, _known: Revocations) -> Revocations:
        self.reads += 1
        found = frozenset({self.reads})
        assert self.goes_on.wait(60)
        if self.fails:
            raise OperationalError("SELECT 1", None, Exception("no answer"))
        return Revocations(accounts=found)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    return Process(monkeypatch)


@pytest.fixture
def threads(process: Process) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(8)


def test_requests_wait_for_a_read_if_what_was_read_before_is_too_old(
    process: Process, threads: ThreadPoolExecutor
) -> None:
    """After a quiet period a process would otherwise take tokens that were revoked minutes ago."""
    process.now = MAX_AGE_SECONDS
    requests = process.come_during_a_read(threads, 5)
    process.goes_on.set()
    assert [each.result(60) for each in requests] == [SECOND] * 6
    assert process.reads == 2, "they read in turn"


def test_requests_go_on_during_a_read_with_what_was_read_a_few_seconds_ago(
    process: Process, threads: ThreadPoolExecutor
) -> None:
    process.now = MAX_AGE_SECONDS - 0.1
    reader, *others = process.come_during_a_read(threads, 5)
    assert [each.result(60) for each in others] == [FIRST] * 5
    assert asyncio.run(process.accounts_on_loop()) == FIRST
    process.goes_on.set()
    assert reader.result(60) == SECOND


def test_on_the_event_loop_what_is_too_old_is_not_used_while_a_thread_reads(
    process: Process, threads: ThreadPoolExecutor
) -> None:
    process.now = MAX_AGE_SECONDS
    [reader] = process.come_during_a_read(threads, 0)
    with pytest.raises(NeedsThread):
        asyncio.run(process.accounts_on_loop())
    process.goes_on.set()
    assert reader.result(60) == asyncio.run(process.accounts_on_loop()) == SECOND


def test_on_the_event_loop_they_are_never_read_for_the_first_time(process: Process) -> None:
    process.tokens = Tokens(create_engine("postgresql+psycopg://"), "secret")
    with pytest.raises(NeedsThread):
        asyncio.run(process.accounts_on_loop())
    assert process.reads == 1


def test_the_event_loop_asks_for_one_read_at_a_time(process: Process) -> None:
    process.now = MAX_AGE_SECONDS - 0.1
    process.goes_on.set()
    for accounts in (FIRST, SECOND):
        for _ in range(3):
            assert asyncio.run(process.accounts_on_loop()) == accounts
        [read] = process.background
        process.background.clear()
        read()
        process.now += MAX_AGE_SECONDS - 0.1
    assert process.reads == 3


def test_whoever_waited_in_vain_does_not_try_in_turn(process: Process, threads: ThreadPoolExecutor) -> None:
    """Each would wait for its own timeout while the database is away, one after the other."""
    process.now, process.fails = 100.0, True
    requests = process.come_during_a_read(threads, 5)
    process.now = 110.0
    process.goes_on.set()
    errors = [each.exception(60) for each in requests]
    assert process.reads == 2, "they tried in turn"
    assert isinstance(errors[0], OperationalError)
    assert {each.code for each in errors[1:] if isinstance(each, Problem)} == {"unavailable"}
    assert not any(each is None for each in errors)
    process.fails = False
    assert process.accounts() == THIRD
