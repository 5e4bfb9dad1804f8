"""Malformed PDUs that carriers send. A client must survive them all, some by reconnecting."""

from collections.abc import Sequence
from itertools import cycle

from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import pdu

KINDS = (
    pdu(0x00000999, 0, 7, b"unknown command"),
    pdu(Command.SUBMIT_SM_RESP, 0, 0x7FFFFFF0, b"never-asked\0"),
    pdu(Command.ALERT_NOTIFICATION, 0, 9, b"\1\1" + b"254711000000\0\0\0\0"),
    pdu(Command.DELIVER_SM, 0, 0x7FFFFF01, b"\0\1\1no end"),
    pdu(Command.GENERIC_NACK, 3, 0),
    pdu(Command.DELIVER_SM, 0, 0x7FFFFF02, b""),
    pdu(0x80000888, 0, 12, b"\xff" * 40),
    pdu(Command.ENQUIRE_LINK, 0, 0x7FFFFF03, b"with a body"),
    b"\0\0\0\0" * 4,  # impossible lengths
    b"\0\0\0\3" + b"\0" * 12,
    b"\xff\xff\xff\xff" * 8,
)


class Garbage:
    """Yields one kind after the other."""

    def __init__(self, kinds: Sequence[bytes] = KINDS) -> None:
        self._kinds = cycle(kinds)

    def next(self) -> bytes:
        """The next malformed PDU."""
        return next(self._kinds)
