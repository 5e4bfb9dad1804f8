"""A simulated SMSC in the test's process, so that a test can change what it does, and the lines that name one."""

import asyncio
import contextlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bulksms.local.ports import LOOPBACK
from bulksms.smsc.behavior import Behavior, Decision
from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import read_message

LOGIN = {"system_id": "acme", "password": "secret"}
Mood = Callable[[int, str], Decision]
"""Decides about a submit, given how many there were and the phone."""


class Submit(NamedTuple):
    """What came to an SMSC: when (monotonic), for whom, and what became of it (`Watch`)."""

    at: float
    phone: str
    verdict: str


class Moody(Behavior):
    """Decides by a mood, but for the phones with a prefix of the simulator."""

    def __init__(self, settings: SmscSettings, mood: Mood) -> None:
        super().__init__(settings)
        self.plain = False
        self._mood = mood
        self._count = 0

    def decide(self, destination: bytes) -> Decision:
        """What becomes of a submit."""
        self._count += 1
        if destination.startswith(b"999"):
            return super().decide(destination)
        return self._mood(self._count, destination.decode())


class SmscPeer:
    """A simulated SMSC, and all submits that came to it."""

    def __init__(self, smsc: Smsc, submits: list[Submit]) -> None:
        self.smsc = smsc
        self.port = smsc.port
        self.submits = submits

    def behave(self, mood: Mood | None = None, **settings: Any) -> None:
        """Change these settings, and decide by the mood, or by the settings without one."""

        def change() -> None:
            self.smsc.change(**settings)
            if mood is not None:
                self.smsc.behavior = Moody(self.smsc.settings, mood)

        self._do(change)

    def hang_up(self) -> None:
        """Break all connections."""
        self._do(self.smsc.drop_all)

    def stop(self) -> None:
        """Break all connections, and take none any more."""
        self._do(lambda: asyncio.ensure_future(self.smsc.stop()))

    def taken(self) -> Counter[str]:
        """How often each phone's message was taken, answered or not."""
        return Counter(each.phone for each in self.submits if each.verdict in ("accepted", "lost"))

    def _do(self, change: Callable[[], object]) -> None:
        """Change something in the SMSC's own thread, and wait until it is done."""
        done = threading.Event()

        def change_it() -> None:
            change()
            done.set()

        self.smsc.loop.call_soon_threadsafe(change_it)
        assert done.wait(30)


@contextlib.contextmanager
def smsc_peer(**settings: Any) -> Iterator[SmscPeer]:
    """An SMSC with these settings (`SmscSettings`)."""
    submits: list[Submit] = []

    def watch(body: bytes, _: str, verdict: str) -> None:
        submits.append(Submit(time.monotonic(), read_message(Command.SUBMIT_SM, body).destination, verdict))

    with running(SmscSettings(**{"port": 0, "receipt_delay": 0.2, **LOGIN, **settings}), watch) as smsc:
        yield SmscPeer(smsc, submits)


def smpp_carrier(name: str, port: int, **settings: str | float) -> str:
    """The lines of CARRIERS_FILE for an SMSC, with these settings beside or in place of the usual ones."""
    usual = {"kind": "smpp", "host": LOOPBACK, "port": port, **LOGIN, "window": 100, "response_timeout": 4}
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in {**usual, **settings}.items())
    return f"[carrier.{name}]\n{''.join(lines)}"
