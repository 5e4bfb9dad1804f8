"""The service with workers that are bound to simulated SMSCs, and what those saw, when."""

import asyncio
import contextlib
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bulksms.smsc.behavior import Behavior, Decision
from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import read_message
from tests.harness.house import House, wait_until

CARRIER = """
[carrier.{name}]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "acme"
password = "secret"
window = 100
rate = {rate}
response_timeout = 5
"""


@dataclass(slots=True)
class Seen:
    """What came to one SMSC: when, for whom, and what became of it."""

    times: list[float] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)

    def __call__(self, body: bytes, _: str, verdict: str) -> None:
        self.times.append(time.monotonic())
        self.phones.append(str(read_message(Command.SUBMIT_SM, body).destination))
        self.verdicts.append(verdict)

    def taken(self) -> Counter[str]:
        """How often each phone's message was taken, answered or not."""
        pairs = zip(self.phones, self.verdicts, strict=True)
        return Counter(phone for phone, verdict in pairs if verdict in ("accepted", "lost"))

    def busiest_second(self) -> int:
        """Most submits within a second, wherever it begins."""
        times = sorted(self.times)
        return max((bisect_left(times, at + 1.0) - number for number, at in enumerate(times)), default=0)

    def since(self, begin: float, end: float) -> int:
        """How many came in that time."""
        return bisect_left(self.times, end) - bisect_left(self.times, begin)


class Refusing:
    """Refuses everything."""

    plain = False

    def decide(self, _: bytes) -> Decision:
        """ESME_RSYSERR."""
        return Decision(Status.ESME_RSYSERR, taken=False)


class Carrier:
    """A simulated SMSC."""

    def __init__(self, smsc: Smsc, seen: Seen) -> None:
        self.smsc = smsc
        self.seen = seen

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.smsc.port

    def behave(self, **settings: float) -> None:
        """Change its settings from now on."""
        changed = SmscSettings(**settings)  # type: ignore[arg-type]
        self.smsc.loop.call_soon_threadsafe(lambda: setattr(self.smsc, "behavior", Behavior(changed)))

    def refuse(self) -> None:
        """Fail every submit from now on."""
        self.smsc.loop.call_soon_threadsafe(lambda: setattr(self.smsc, "behavior", Refusing()))

    def die(self) -> None:
        """Break all connections, and take none any more."""
        self.smsc.loop.call_soon_threadsafe(lambda: asyncio.ensure_future(self.smsc.stop()))


@contextlib.contextmanager
def carrier(**settings: float) -> Iterator[Carrier]:
    """An SMSC with these settings (`SmscSettings`)."""
    seen = Seen()
    with running(SmscSettings(port=0, receipt_delay=0.1, **settings), seen) as smsc:  # type: ignore[arg-type]
        yield Carrier(smsc, seen)


@contextlib.contextmanager
def service(folder: Path, carriers: str, workers: int, **settings: str) -> Iterator[House]:
    """The service with that CARRIERS_FILE, its workers bound."""
    file = folder / "carriers.toml"
    file.write_text(carriers)
    made = House(folder, CARRIERS_FILE=str(file), **({"LEASE_SECONDS": "10"} | settings))
    try:
        made.start_api()
        made.start_workers(workers)
        ready = f"SELECT count(DISTINCT worker) = {workers} FROM carrier_report WHERE state = 'ready'"
        wait_until(lambda: made.scalar(ready), 60, "the binds")
        yield made
    finally:
        made.stop()


def phones(count: int, first: int = 254700000000) -> list[str]:
    """So many consecutive phones."""
    return [str(first + number) for number in range(count)]
