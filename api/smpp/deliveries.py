"""Delivers receipts and messages from phones to the receivers of this process.

In the order of their events, several at a time, each again until it is answered. While nobody is bound they wait in
the stream of events, for as long as that is kept.
"""

import asyncio
import contextlib
import logging
from bisect import insort
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
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
RECORD_SECONDS: Final = 3.0
"""How often the position is recorded, and the lease renewed, while a page is delivered."""
PAUSE_SECONDS: Final = 5.0
"""Until a delivery that the customer cannot take now, or a database that gives no answer, is tried again."""
NOT_NOW: Final = (Status.ESME_RMSGQFUL, Status.ESME_RSYSERR, Status.ESME_RTHROTTLED, Status.ESME_RX_T_APPN)
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


class PageInProgress:
    """The deliveries of a page: which wait, which are answered."""

    def __init__(self, page: Page, outlet: Outlet) -> None:
        self._page, self._outlet = page, outlet
        self._waiting = list(range(len(page.deliveries)))
        self._answered = [False] * len(page.deliveries)
        self._is_paused = False

    @property
    def is_over(self) -> bool:
        """Whether everything is answered, or nobody receives."""
        return all(self._answered) or not self._outlet.receivers

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until it is over or `stop` is set, or for RECORD_SECONDS."""
        outlet = self._outlet
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RECORD_SECONDS):
                while not self.is_over and not stop.is_set():
                    outlet.changed.clear()
                    while self._waiting and not self._is_paused:
                        receiver = max(outlet.receivers, key=lambda each: each.room)
                        if receiver.room <= 0:
                            break
                        crashpoint("smpp.before_delivery")
                        self._send(receiver, self._waiting.pop(0))
                        crashpoint("smpp.delivered")
                    await outlet.changed.wait()

    def position(self, before: Position) -> Position:
        """The position before the first delivery that is not answered; `before` if that is the first of the page."""
        done = next((number for number, each in enumerate(self._answered) if not each), None)
        if done is None:
            return self._page.end
        return self._page.deliveries[done - 1].position if done else before

    def _send(self, receiver: Receiver, number: int) -> None:
        def answered(status: int | None) -> None:
            CUSTOMER_UNANSWERED.dec()
            CUSTOMER_DELIVERIES.labels(result_of(status)).inc()
            self._answered[number] = status is not None and status not in NOT_NOW
            if not self._answered[number]:
                insort(self._waiting, number)
            if status in NOT_NOW and not self._is_paused:
                self._is_paused = True
                asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._go_on)
            self._outlet.changed.set()

        CUSTOMER_UNANSWERED.inc()
        receiver.deliver(self._page.deliveries[number].body, answered)

    def _go_on(self) -> None:
        self._is_paused = False
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
        try:
            await self._deliver(claimed)
        except Exception as error:
            log.warning(
                "%s gets its receipts when its lease has ended: %s",
                claimed.system_id,
                type(error).__name__,
                exc_info=not is_outage_or_timeout(error),
            )
        finally:
            del self._tasks[claimed.id]

    async def _deliver(self, claimed: Claim) -> None:
        """Deliver page after page, until there is nothing, nobody receives, or the lease is lost."""
        current: Claim | None = claimed
        while current is not None and (outlet := self._outlets.get(claimed.id)) and not self.stop.is_set():
            page: Page = await self._in_thread(store.read_page, self._engine, current)
            if not page.deliveries and page.end == current.position:
                break
            progress, is_over = PageInProgress(page, outlet), False
            while current is not None and not is_over:
                await progress.run(self.stop)
                is_over = progress.is_over or self.stop.is_set()
                current = await self._in_thread(store.move, self._engine, current, progress.position(current.position))
        await self._in_thread(store.release, self._engine, claimed)
