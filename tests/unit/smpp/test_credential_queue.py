"""What a credential is to get, as its receivers answer."""

import asyncio
from collections.abc import Callable
from uuid import UUID

import pytest

from api.smpp import deliveries
from api.smpp.deliveries import CredentialQueue, Outlet
from api.smpp.store import Page
from shared.carriers.smpp.constants import Status
from shared.events.stream import Position


class FakeReceiver:
    """A bind with a window of one, that notes what it gets."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.open: list[Callable[[int | None], None]] = []

    @property
    def room(self) -> int:
        return 1 - len(self.open)

    def deliver(self, body: bytes, answered: Callable[[int | None], None]) -> None:
        self.got.append(body)
        self.open.append(answered)

    def answer(self, status: int) -> None:
        self.open.pop()(status)


def position(number: int) -> Position:
    return Position(number, UUID(int=number))


def page(*bodies: bytes, at: int = 0) -> Page:
    """Deliveries, each at a position of its own from `at` + 1."""
    found = [(body, position(number)) for number, body in enumerate(bodies, at + 1)]
    return Page(found, found[-1][1], False)


def test_one_that_always_fails_is_given_up_while_others_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(deliveries, "RECORD_SECONDS", 0.01)

    class Picky(FakeReceiver):
        def deliver(self, body: bytes, answered: Callable[[int | None], None]) -> None:
            super().deliver(body, answered)
            self.answer(Status.ESME_RX_T_APPN if body == b"odd" else Status.ESME_ROK)

    async def run() -> None:
        receiver = Picky()
        queue = CredentialQueue(Outlet([receiver]), position(0))
        queue.add(page(b"odd"))
        await queue.deliver(asyncio.Event())
        assert queue.open, "while none is taken, it may be all of them that fail"
        others = [b"%d" % number for number in range(deliveries.TRIES)]
        for number, body in enumerate(others, 1):
            queue.add(page(body, at=number))
            await queue.deliver(asyncio.Event())
        assert (queue.open, queue.position) == ({}, position(len(others) + 1))
        assert [each for each in receiver.got if each != b"odd"] == others

    asyncio.run(run())


def test_a_stop_waits_for_answers_and_sends_nothing_more() -> None:
    async def run() -> None:
        receiver, stop = FakeReceiver(), asyncio.Event()
        outlet = Outlet([receiver])
        queue = CredentialQueue(outlet, position(0))
        queue.add(page(b"one", b"two"))
        delivering = asyncio.create_task(queue.deliver(stop))
        await asyncio.sleep(0)
        stop.set()
        outlet.changed.set()
        await asyncio.sleep(0)
        assert not delivering.done()
        receiver.answer(Status.ESME_ROK)
        await delivering
        assert (receiver.got, queue.position) == ([b"one"], position(1))

    asyncio.run(run())
