"""Walls between those who use the service: what one of them may hold of a process, and whose turn it is.

Requests belong to the account whose token they bring, or without a valid one to the address that they come from
(api/server/owners.py). Nobody has more requests under way than its share, and nobody's wait behind another's for a
thread: those of each owner stand in a line of their own, and the lines take turns.

All of it is called on the event loop only.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar, cast

Owner = int | str
"""An account, or what belongs to one client of the addresses."""
Result = TypeVar("Result")

MAX_PER_ACCOUNT = 512
"""Requests under way of one account, in each process."""
MAX_PER_ADDRESS = 64
"""The same of one address, before sign-in."""
LARGE_OF_ACCOUNT = 8
"""Of these, those with a large body that arrives or is worked on: the others wait for it."""
LARGE_OF_ADDRESS = 2
WORKED_ON_OF_ACCOUNT = 2
"""Of the large bodies, those being parsed and worked on: each takes some 50 MB. Files for imports are read in pieces
and not counted."""
EXPORTS_OF_ACCOUNT = 4
"""Long answers that are written to one account at the same time, by each process."""
SIGN_IN_THREADS = 4
SINGLE_THREADS = 8
CARRIER_THREADS = 4


def share(owner: Owner, of_account: int, of_address: int) -> int:
    """What an owner may have, an account or an address."""
    return of_account if isinstance(owner, int) else of_address


class Share:
    """How much of something each owner has, which is bounded."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[Owner, int] = {}

    def take(self, owner: Owner, limit: int) -> bool:
        """Take one. False where the owner has `limit`."""
        held = self._held.get(owner, 0)
        if held >= limit:
            return False
        self._held[owner] = held + 1
        return True

    def give_back(self, owner: Owner) -> None:
        """Give back one that was taken."""
        held = self._held.pop(owner) - 1
        if held:
            self._held[owner] = held

    def held(self, owner: Owner) -> int:
        """How many the owner has."""
        return self._held.get(owner, 0)


class Permits:
    """Places of which each owner has a number: who has taken all of its own waits for one of them."""

    def __init__(self) -> None:
        self._share = Share()
        self._waiting: dict[Owner, deque[asyncio.Future[None]]] = {}

    async def take(self, owner: Owner, limit: int) -> None:
        """Take a place, when there is one."""
        if self._share.take(owner, limit):
            return
        permit: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._waiting.setdefault(owner, deque())
        queue.append(permit)
        try:
            await permit
        except asyncio.CancelledError:
            if permit.done() and not permit.cancelled():
                self.give_back(owner)
            elif permit in queue:
                queue.remove(permit)
            raise

    def give_back(self, owner: Owner) -> None:
        """Give back a place, to who waits for it."""
        queue = self._waiting.get(owner)
        while queue:
            permit = queue.popleft()
            if not permit.done():
                permit.set_result(None)
                return
        self._waiting.pop(owner, None)
        self._share.give_back(owner)


Job = tuple["asyncio.Future[object]", Callable[[], object]]


class Lane:
    """Threads that owners share: each in its turn, and none with more than `max_per_owner`."""

    def __init__(self, name: str, threads: int, max_per_owner: int) -> None:
        self._pool = ThreadPoolExecutor(threads, name)
        self._free = threads
        self._max_per_owner = max_per_owner
        self._running = Share()
        self._waiting: OrderedDict[Owner, deque[Job]] = OrderedDict()

    def submit(self, owner: Owner, function: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Have a function called in a thread, now or when it is the owner's turn."""
        loop = asyncio.get_running_loop()
        if self._free and self._running.take(owner, self._max_per_owner):
            return self._start(loop, owner, function)
        job: asyncio.Future[Result] = loop.create_future()
        self._waiting.setdefault(owner, deque()).append(cast(Job, (job, function)))
        return job

    def withdraw(self, owner: Owner, job: "asyncio.Future[Result]") -> bool:
        """Take back a job. False where it has begun."""
        queue = self._waiting.get(owner, ())
        waiting = next((each for each in queue if each[0] is job), None)
        if waiting is None:
            return False
        self._waiting[owner].remove(waiting)
        return True

    def _start(
        self, loop: asyncio.AbstractEventLoop, owner: Owner, function: Callable[[], Result]
    ) -> "asyncio.Future[Result]":
        self._free -= 1
        running = loop.run_in_executor(self._pool, function)
        running.add_done_callback(partial(self._ended, owner))
        return running

    def _ended(self, owner: Owner, _: object) -> None:
        self._free += 1
        self._running.give_back(owner)
        while self._free and self._start_next():
            pass

    def _start_next(self) -> bool:
        """Start the first job of the next owner that may have one more thread. False where there is none."""
        for owner, queue in self._waiting.items():
            if queue and not self._running.take(owner, self._max_per_owner):
                continue
            if queue:
                job, function = queue.popleft()
                running = self._start(asyncio.get_running_loop(), owner, function)
                running.add_done_callback(partial(_pass_on, job))
            if queue:
                self._waiting.move_to_end(owner)
            else:
                del self._waiting[owner]
            return True
        return False


def _pass_on(job: "asyncio.Future[object]", done: "asyncio.Future[object]") -> None:
    error = done.exception()
    if job.cancelled():
        return
    if error is not None:
        job.set_exception(error)
    else:
        job.set_result(done.result())
