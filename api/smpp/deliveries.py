"""Delivers receipts and messages from phones to the receivers of this process.

In the order of their events, several at a time, each again until it is answered. While nobody is bound they wait in
the stream of events, for as long as that is kept.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final, Protocol
from uuid import UUID

from sqlalchemy import Engine

from api.smpp import store
from api.smpp.store import Claim, Page
from shared.carriers.smpp.constants import Status
from shared.crashpoints import crashpoint
from shared.db.connection import is_outage_or_timeout
from shared.events.stream import Position
from shared.observability.metrics import CUSTOMER_DELIVERIES, CUSTOMER_UNANSWERED

log = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.25
RECORD_SECONDS: Final = 1.0
"""How often more is read, the position recorded, and the lease renewed, while something is not answered."""
AHEAD: Final = 4_000
"""How far behind a delivery that is not answered others are delivered, and come again if the process dies."""
PAUSE_SECONDS: Final = 5.0
"""Until a delivery that the customer cannot take now, or a database that gives no answer, is tried again."""
LONGEST_PAUSE_SECONDS: Final = 60.0
TRIES: Final = 10
"""How often one delivery may fail while others are taken, after pauses that double. Then it is given up: a replay
delivers it again."""
BUSY: Final = (Status.ESME_RMSGQFUL, Status.ESME_RTHROTTLED)
NOT_NOW: Final = (*BUSY, Status.ESME_RSYSERR, Status.ESME_RX_T_APPN)
"""Answers after which a delivery is tried again. Any other one ends it."""


def result_of(status: int | None) -> str:
    """The result of a delivery, as it is counted, by the status of its answer."""
    if status is None:
        return "unanswered"
    return "postponed" if status in NOT_NOW else "refused" if status else "taken"


class Receiver(Protocol):
    """A bind that receives."""

    @property
    def room(self) -> int:
        """How many more deliveries may be unanswered."""

    def deliver(self, body: bytes, answered: Callable[[int | None], None]) -> None:
        """Send a deliver_sm. `answered` gets the status of its answer; None if the bind ended without one."""


@dataclass(slots=True)
class Outlet:
    """The receivers of one credential. `changed` is set when there may be more room, or a receiver has left."""

    receivers: list[Receiver] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class CredentialQueue:
    """What a credential is to get, in order, until it is answered."""

    def __init__(self, outlet: Outlet, position: Position) -> None:
        self._outlet = outlet
        self.read_to, self._may_have_more = position, False
        self.open: dict[int, tuple[bytes, Position]] = {}
        """What is not answered, by its number, with the position before it."""
        self._waiting: list[int] = []
        """A heap of those that are to be sent."""
        self._numbers = self._unanswered = 0
        self._failures: dict[int, int] = {}
        """How often each one could not be taken while others were."""
        self._are_others_taken = True
        self._paused_until = 0.0

    @property
    def position(self) -> Position:
        """All before it is answered."""
        return next((before for _, before in self.open.values()), self.read_to)

    @property
    def has_room(self) -> bool:
        """Whether one more page may be read: what is not answered holds up only so many behind it."""
        return self._numbers - next(iter(self.open), self._numbers) < AHEAD

    def add(self, page: Page) -> None:
        """Add what is read."""
        for body, position in page.deliveries:
            self.open[self._numbers] = body, self.read_to
            heappush(self._waiting, self._numbers)
            self._numbers, self.read_to = self._numbers + 1, position
        self.read_to, self._may_have_more = page.end, page.more

    async def deliver(self, stop: asyncio.Event) -> None:
        """Deliver until all is answered, more can be read or nobody receives, or for RECORD_SECONDS.

        Once `stop` is set, only wait for answers.
        """
        outlet = self._outlet
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RECORD_SECONDS):
                while self.open and outlet.receivers and (self._unanswered or not stop.is_set()):
                    outlet.changed.clear()
                    while self._may_send(stop):
                        receiver = max(outlet.receivers, key=lambda each: each.room)
                        if receiver.room <= 0:
                            break
                        crashpoint("smpp.before_delivery")
                        self._send(receiver, heappop(self._waiting))
                        crashpoint("smpp.delivered")
                    if self._may_have_more and self.has_room and not self._waiting and not stop.is_set():
                        break
                    await outlet.changed.wait()

    def _may_send(self, stop: asyncio.Event) -> bool:
        is_on = bool(self._waiting and self._outlet.receivers) and not stop.is_set()
        return is_on and time.monotonic() >= self._paused_until

    def _send(self, receiver: Receiver, number: int) -> None:
        def answered(status: int | None) -> None:
            result = result_of(status)
            if result == "postponed" and self._failures.get(number, 0) == TRIES - 1:
                result = "refused"
            CUSTOMER_UNANSWERED.dec()
            CUSTOMER_DELIVERIES.labels(result).inc()
            self._unanswered -= 1
            if result == "unanswered":
                self._wait(number)
            elif result == "postponed":
                self._postpone(number, status in BUSY)
            else:
                del self.open[number]
                self._failures.pop(number, None)
                self._are_others_taken = True
            self._outlet.changed.set()

        CUSTOMER_UNANSWERED.inc()
        self._unanswered += 1
        receiver.deliver(self.open[number][0], answered)

    def _postpone(self, number: int, is_busy: bool) -> None:
        """Try one again later. If the customer is busy, or no other is taken either, all others wait, too."""
        failures = self._failures.get(number, 0)
        if is_busy or not self._are_others_taken:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
        else:
            self._failures[number] = failures + 1
        self._are_others_taken = False
        delay = min(PAUSE_SECONDS * 2**failures, LONGEST_PAUSE_SECONDS)
        asyncio.get_running_loop().call_later(delay, self._wait, number)

    def _wait(self, number: int) -> None:
        heappush(self._waiting, number)
        self._outlet.changed.set()


class Deliverer:
    """Claims credentials whose receivers are bound here, and delivers their events."""

    def __init__(self, engine: Engine, in_thread: Callable[..., Awaitable[Any]]) -> None:
        self._engine, self._in_thread = engine, in_thread
        self._outlets: dict[UUID, Outlet] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self.stop = asyncio.Event()

    def add(self, credential: UUID, receiver: Receiver) -> None:
        """Deliver to a new bind, too."""
        self._outlets.setdefault(credential, Outlet()).receivers.append(receiver)
        self.wake(credential)

    def remove(self, credential: UUID, receiver: Receiver) -> None:
        """Deliver no more to a bind."""
        self._outlets[credential].receivers.remove(receiver)
        self.wake(credential)
        if not self._outlets[credential].receivers:
            del self._outlets[credential]

    def wake(self, credential: UUID) -> None:
        """A bind has room again."""
        if credential in self._outlets:
            self._outlets[credential].changed.set()

    async def run(self) -> None:
        """Deliver until `stop` is set, and until the pages in progress are recorded."""
        while not self.stop.is_set():
            pause = POLL_SECONDS
            try:
                await self._poll()
            except Exception as error:
                pause = PAUSE_SECONDS
                log.warning("receipts wait, as the database gives no answer: %s", type(error).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), pause)
        for credential in self._outlets:
            self.wake(credential)
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _poll(self) -> None:
        free = [credential for credential in self._outlets if credential not in self._tasks]
        claimed: list[Claim] = await self._in_thread(store.claim, self._engine, free) if free else []
        for each in claimed:
            self._tasks[each.id] = asyncio.create_task(self._serve(each))

    async def _serve(self, claimed: Claim) -> None:
        """Deliver until there is nothing, nobody receives, or the lease is lost."""
        outlet = self._outlets.get(claimed.id, Outlet())
        queue, goes_on = CredentialQueue(outlet, claimed.position), True
        try:
            while goes_on:
                before = queue.read_to
                if queue.has_room:
                    queue.add(await self._in_thread(store.read_page, self._engine, claimed, before))
                await queue.deliver(self.stop)
                has_more = bool(queue.open) or queue.read_to != before
                goes_on = has_more and bool(outlet.receivers) and not self.stop.is_set()
                goes_on = await self._in_thread(store.move, self._engine, claimed, queue.position, goes_on) and goes_on
        except Exception as error:
            text, reason = "%s gets its receipts when its lease has ended: %s", type(error).__name__
            log.warning(text, claimed.system_id, reason, exc_info=not is_outage_or_timeout(error))
        finally:
            del self._tasks[claimed.id]
