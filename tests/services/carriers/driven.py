"""The SMPP driver and the simulated SMSC, bound to each other."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from tests.harness.house import wait_until
from tests.unit.carriers.smpp.making import KeptInbox, config
from worker.carriers.base import MessageGroup, Outcome, ResponseKind
from worker.carriers.smpp import SmppCarrier

ACCEPTED, THROTTLED, IN_DOUBT = ResponseKind.ACCEPTED, ResponseKind.THROTTLED, ResponseKind.IN_DOUBT
PATIENCE = 60.0
ENDLESS = 600.0
"""A response timeout that nobody waits for."""


class Driven:
    """A driver, an SMSC, and what came of them."""

    def __init__(self, smsc: Smsc, **settings: Any) -> None:
        self.smsc = smsc
        self.inbox = KeptInbox()
        self.carrier = SmppCarrier(config(**{"port": smsc.port, "response_timeout": PATIENCE, **settings}))

    def open(self) -> None:
        self.carrier.open(self.inbox)
        self.bound()

    def bound(self) -> None:
        wait_until(lambda: all(link.trouble is None for link in self.carrier._links), PATIENCE, "a bind")

    def submit(self, *message_groups: MessageGroup) -> list[Outcome]:
        return self.carrier.submit(list(message_groups))

    def unanswered(self) -> int:
        """Submits whose response is awaited."""
        (link,) = self.carrier._links
        assert link._session is not None
        return link._session.windows.unanswered()

    def drop_all(self) -> None:
        self.smsc.loop.call_soon_threadsafe(self.smsc.drop_all)


@contextmanager
def driven(watch: Any = None, smsc: dict[str, Any] | None = None, **settings: Any) -> Iterator[Driven]:
    """A driver bound to an SMSC, each with its own settings."""
    with running(SmscSettings(**{"port": 0, "receipt_delay": 0.05, **(smsc or {})}), watch) as server:
        made = Driven(server, **settings)
        try:
            made.open()
            yield made
        finally:
            made.carrier.close()


def phones(count: int, prefix: str = "2547") -> list[str]:
    return [f"{prefix}{number:08d}" for number in range(count)]


def response_counts(outcomes: list[Outcome]) -> Counter[ResponseKind]:
    return Counter(outcome.response for outcome in outcomes)
