"""Bulkheads: how much of a process one account, operator or address may hold, and fair scheduling between them.

A request's owner is the account or operator of its token or, without a valid token, the client's address
(api/server/application.py). No owner has more requests in progress than its share, and none waits for a thread behind
another's requests: each owner has its own queue, and the queues are served round-robin.

Call everything here on the event loop only, unless it says otherwise.
"""

import asyncio
import hmac
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_bytes
from typing import NamedTuple, TypeVar, cast
from weakref import WeakValueDictionary


class OperatorOwner(NamedTuple):
    """An operator as the owner of requests to the operator API."""

    actor: str


Owner = int | OperatorOwner | str
"""An account's id, an operator, or the address block of one client."""
Result = TypeVar("Result")

MAX_PER_ACCOUNT = 512
"""Requests in progress of one account, in each process."""
MAX_PER_ADDRESS = 64
"""Requests in progress of one address without a valid token, in each process."""
CONNECTIONS_OF_ADDRESS = 1_000
"""Of one address, with a request each: deploy/nginx.conf has it, in front of all processes."""
LARGE_OF_ACCOUNT = 8
"""Of an account's requests in progress, those whose large body is being received or handled; further ones wait."""
LARGE_OF_ADDRESS = 2
WORKED_ON_OF_ACCOUNT = 1
"""Of the large bodies, those being parsed and handled: each takes about 50 MB. Import files are read in chunks and not
counted."""
EXPORTS_OF_ACCOUNT = 4
"""Streamed responses to one account at the same time, in each process."""
EXPORT_THREADS = 4
"""At most. They make the chunks of streamed responses, one chunk of an account at a time."""
MAX_UNREAD_BYTES = 32 * 1024 * 1024
"""Bytes of responses to one owner that its clients have not taken yet, in each process. Above that, it gets no more."""
SIGN_IN_THREADS = 4
PASSWORD_THREADS = 1
"""In each process. A hash takes 19 MB and some 20 ms of a core (shared/people/passwords.py)."""
OIDC_THREADS = 4
"""Each may wait for the OpenID Connect provider (shared/oidc/http.py)."""
SINGLE_THREADS = 8
MAX_KNOWN_LOGINS = 10_000
CARRIER_THREADS = 4


class KnownLogins:
    """Which account a name and a password were of when this process checked them last, in any thread.

    Only to count a request against its account before it is authenticated, which each request is.
    """

    def __init__(self) -> None:
        self._key = token_bytes(32)
        self._accounts: OrderedDict[bytes, int] = OrderedDict()

    def account_of(self, name: str, password: str) -> int | None:
        """The account; None if it is not known."""
        return self._accounts.get(self._hidden(name, password))

    def note(self, name: str, password: str, account: int | None) -> None:
        """Remember what the check has found; None for nothing."""
        if account is None:
            self._accounts.pop(self._hidden(name, password), None)
            return
        self._accounts[self._hidden(name, password)] = account
        if len(self._accounts) > MAX_KNOWN_LOGINS:
            self._accounts.popitem(last=False)

    def _hidden(self, name: str, password: str) -> bytes:
        return hmac.digest(self._key, f"{name}\0{password}".encode(), "sha256")


def is_signed_in(owner: Owner) -> bool:
    """Whether the owner is an account or an operator, not an address."""
    return not isinstance(owner, str)


def limit_of(owner: Owner, of_account: int, of_address: int) -> int:
    """The limit that applies to an owner: that of an account, which an operator has too, or an address's."""
    return of_account if is_signed_in(owner) else of_address


class Holdings:
    """Counts how many of a resource each owner holds, up to a limit."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: dict[Owner, int] = {}

    def acquire(self, owner: Owner, limit: int) -> bool:
        """Acquire one. Returns False if the owner already holds `limit`."""
        held = self.held.get(owner, 0)
        if held >= limit:
            return False
        self.held[owner] = held + 1
        return True

    def release(self, owner: Owner) -> None:
        """Release one that was acquired."""
        held = self.held.pop(owner) - 1
        if held:
            self.held[owner] = held


class Permits:
    """A semaphore for each owner, while it is used."""

    def __init__(self) -> None:
        self._semaphores: WeakValueDictionary[Owner, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, owner: Owner, limit: int) -> asyncio.Semaphore:
        """The owner's semaphore, for `async with`, which keeps it."""
        return self._semaphores.setdefault(owner, asyncio.Semaphore(limit))


class WaitingCall(NamedTuple):
    """A function that waits for a thread."""

    outcome: "asyncio.Future[object]"
    function: Callable[[], object]


class FairThreadPool:
    """A thread pool that serves owners round-robin, at most `max_per_owner` threads each."""

    def __init__(self, name: str, threads: int, max_per_owner: int) -> None:
        self.name = name
        self.threads = threads
        self.max_per_owner = max_per_owner
        self._pool = ThreadPoolExecutor(threads, name)
        self._free = threads
        self._running = Holdings()
        self._waiting: OrderedDict[Owner, deque[WaitingCall]] = OrderedDict()

    def submit(self, owner: Owner, function: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Call a function in a thread, now or when the owner is next in the rotation."""
        outcome: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        job = WaitingCall(cast("asyncio.Future[object]", outcome), function)
        self._waiting.setdefault(owner, deque()).append(job)
        self._start_waiting()
        return outcome

    def withdraw(self, owner: Owner, job: "asyncio.Future[Result]") -> bool:
        """Cancel a queued job. Returns False if it is not queued: it has started."""
        queue = self._waiting.get(owner, ())
        waiting = next((each for each in queue if each.outcome is job), None)
        if waiting is None:
            return False
        self._waiting[owner].remove(waiting)
        return True

    def _ended(self, owner: Owner, _: object) -> None:
        self._free += 1
        self._running.release(owner)
        self._start_waiting()

    def _start_waiting(self) -> None:
        while self._free and self._start_next():
            pass

    def _start_next(self) -> bool:
        """Start the first job of the next owner that may use another thread. Returns False if there is none."""
        for owner, queue in self._waiting.items():
            if queue and not self._running.acquire(owner, self.max_per_owner):
                continue
            if queue:
                job = queue.popleft()
                self._free -= 1
                running = asyncio.get_running_loop().run_in_executor(self._pool, job.function)
                running.add_done_callback(partial(self._ended, owner))
                running.add_done_callback(partial(_pass_on, job.outcome))
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
