"""One delivery of a carrier, and its response."""

from struct import Struct
from typing import NamedTuple

from shared.carriers.smpp.constants import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import pdu
from worker.carriers.base import Receipt
from worker.carriers.smpp.session import Session

_ANSWER = Struct(">IIIIx")


class Delivery(NamedTuple):
    """A deliver_sm or data_sm as received."""

    session: Session
    command: int
    sequence: int
    body: bytes

    def __repr__(self) -> str:
        """Show sequence number and size, not the content."""
        return f"Delivery(sequence={self.sequence}, {len(self.body)} octets)"

    def answer(self, status: int) -> bytes:
        """The response PDU; a generic_nack if the delivery is malformed."""
        if status == Status.ESME_RINVCMDLEN:
            return pdu(Command.GENERIC_NACK, status, self.sequence)
        return _ANSWER.pack(_ANSWER.size, self.command | RESPONSE, status, self.sequence)


class HeldReceipt(NamedTuple):
    """A receipt that may be for a part whose id is not known yet, or is for a part of a message that is still open."""

    until: float
    """For a part that is not known by then, on the monotonic clock. An open message is waited for."""
    mark: int
    delivery: Delivery
    receipt: Receipt


def answer_all(answers: list[tuple[Delivery, int]]) -> None:
    """Acknowledge all, with one write per connection."""
    by_session: dict[Session, list[bytes]] = {}
    for delivery, status in answers:
        by_session.setdefault(delivery.session, []).append(delivery.answer(status))
    for session, pdus in by_session.items():
        session.answer(b"".join(pdus))
