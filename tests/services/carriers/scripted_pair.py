"""The SMPP driver, and an SMSC that it is bound to, which follows the script of a test."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import Message, message_body, pdu
from tests.harness.scripted_smsc import ScriptedSmsc
from tests.unit.carriers.smpp.making import KeptInbox, config, message_group
from worker.carriers.base import Outcome, ResponseKind
from worker.carriers.smpp import SmppCarrier

PATIENCE = 60.0
RECEIPT = "id:{} sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:"


class Pair:
    """A driver, and the SMSC that it is bound to."""

    def __init__(self, smsc: ScriptedSmsc, **settings: Any) -> None:
        self.smsc = smsc
        self.inbox = KeptInbox()
        self.carrier = SmppCarrier(config(**{"port": smsc.port, "response_timeout": PATIENCE, **settings}))
        self._pool = ThreadPoolExecutor(4)

    def open(self) -> None:
        self.carrier.open(self.inbox)

    def submit(self, count: int = 3, text: str = "x") -> "Future[list[Outcome]]":
        """Submit that many messages, in another thread."""
        return self._pool.submit(
            self.carrier.submit, [message_group(text, [f"2547{number:08d}" for number in range(count)])]
        )

    def close(self) -> None:
        self.smsc.hang_up()
        self.carrier.close()
        self._pool.shutdown()


@contextmanager
def pair(*, bound: bool = True, **settings: Any) -> Iterator[Pair]:
    with ScriptedSmsc() as smsc:
        made = Pair(smsc, **settings)
        made.open()
        try:
            if bound:
                smsc.accept()
            yield made
        finally:
            made.close()


def references(done: "Future[list[Outcome]]") -> list[str | None]:
    outcomes = done.result(PATIENCE)
    assert {outcome.response for outcome in outcomes} == {ResponseKind.ACCEPTED}
    return [outcome.reference for outcome in outcomes]


def deliver(text: str, sequence: int, esm_class: int = 4, more: bytes = b"") -> bytes:
    message = Message("254700000000", "ACME", text.encode(), esm_class=esm_class)
    return pdu(Command.DELIVER_SM, 0, sequence, message_body(message) + more)
