"""What the sessions of a process share: services, threads for the database, and the deliverer."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from api.accept.accept import PendingSend
from api.idempotency import IdempotentResponse
from api.limits.bulkheads import SINGLE_THREADS, FairThreadPool, Holdings
from api.services import Services
from api.smpp.binds import Bound, bind
from api.smpp.deliveries import Deliverer
from api.smpp.observed import ObservedSubmits
from api.smpp.queries import cancel, query
from api.smpp.submits import accept_submit, response_to
from shared.accounts.smpp_credentials import drop_bind
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import Bind
from shared.db.connection import UNAVAILABLE, transaction

BIND_THREADS: Final = 4
"""Their own: whoever tries passwords does not hold up submits."""
DELIVERY_THREADS: Final = 4
"""For receipts, and to keep binds alive."""
MAX_OPEN: Final = 2_000
"""Requests of one account without an answer, in each process."""

T = TypeVar("T")

SUBMITS: Final = frozenset(map(int, (Command.SUBMIT_SM, Command.DATA_SM)))
"""PDUs that submit a message."""
REQUESTS: Final = SUBMITS | {int(Command.QUERY_SM), int(Command.CANCEL_SM)}


class Backend:
    """Create it on the event loop that uses it."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.stopping = False
        self.deliverer = Deliverer(services.engine, self.in_thread)
        self.submits = ObservedSubmits(services.settings.request_log_sample_rate)
        self.submits.log.start()
        self.open = Holdings()
        """Requests without an answer, by account."""
        self.request_threads = FairThreadPool("requests", SINGLE_THREADS, SINGLE_THREADS // 2)
        """For requests that need a thread: an account waits for none of another."""
        self._threads = ThreadPoolExecutor(DELIVERY_THREADS, "deliveries")
        self._bind_threads = ThreadPoolExecutor(BIND_THREADS, "bind")
        self._loop = asyncio.get_running_loop()

    async def bind(self, request: Bind, kind: str, address: str) -> Bound:
        """Bind. Raises RefusedPdu and errors of the database."""
        return await self._loop.run_in_executor(self._bind_threads, bind, self.services, request, kind, address)

    def begin(self, bound: Bound, command: int, body: bytes) -> PendingSend:
        """Begin to commit a submit, on the event loop. Raises RefusedPdu, Problem and NeedsThread."""
        begun = accept_submit(self.services, command, body, bound.credential, bound.caller)
        assert isinstance(begun, PendingSend)  # what is stored already is read in a thread
        return begun

    def answer(self, bound: Bound, command: int, body: bytes) -> bytes:
        """The body of the response to a submit, after its commit, or to a query_sm or cancel_sm. Blocks.

        Raises RefusedPdu, Problem and errors of the database.
        """
        if command not in SUBMITS:
            look_up = query if command == Command.QUERY_SM else cancel
            return look_up(self.services.engine, bound, body)
        accepted = accept_submit(self.services, command, body, bound.credential, bound.caller)
        assert isinstance(accepted, IdempotentResponse)
        return response_to(accepted)

    def drop(self, bound: Bound) -> None:
        """A bind has ended. If its row cannot be removed, it ends by itself in some seconds."""

        def drop() -> None:
            with contextlib.suppress(*UNAVAILABLE), transaction(self.services.engine, durable=False) as connection:
                drop_bind(connection, bound.id)

        self._threads.submit(drop)

    async def in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function that blocks on the database, in a thread."""
        return await self._loop.run_in_executor(self._threads, function, *arguments)

    async def close(self) -> None:
        """End the threads, after what they do."""
        self._bind_threads.shutdown(wait=False)
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self.submits.log.stop)
