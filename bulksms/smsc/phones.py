"""Phones that write to a customer of the simulated SMSC: their messages as deliver_sm's, long ones in parts."""

from itertools import count
from typing import NamedTuple

from shared.carriers.smpp.alphabets import DATA_CODING, Alphabet, encode
from shared.carriers.smpp.numbers import UDH_INDICATOR, Command
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, Message, message_body
from shared.sms import gsm7
from shared.sms.segments import split

_REFERENCES = count(1)


class Spoken(NamedTuple):
    """A message from a phone, or a part of one, that waits to be delivered."""

    body: bytes

    def deliver_sm(self, sequence: int, now: str) -> bytes:
        """It as a PDU."""
        return HEADER.pack(HEADER_SIZE + len(self.body), Command.DELIVER_SM, 0, sequence) + self.body


def spoken(phone: str, recipient: str, text: str) -> list[Spoken]:
    """The parts of a message (3GPP TS 23.040 §9.2.3.24.1): GSM-7 where every character fits, else UCS-2.

    Raises ValueError for addresses that are not Latin-1, or a text of more than 255 parts.
    """
    alphabet: Alphabet = "gsm7" if gsm7.is_gsm7(text) else "ucs2"
    parts = [encode(part, alphabet) for part in split(text)]
    if len(parts) > 255:
        raise ValueError(f"{len(parts)} parts are more than 255")
    reference = next(_REFERENCES) & 0xFF
    made = []
    for number, octets in enumerate(parts, 1):
        header = bytes((5, 0, 3, reference, len(parts), number)) if len(parts) > 1 else b""
        message = Message(
            phone,
            recipient,
            header + octets,
            esm_class=UDH_INDICATOR if header else 0,
            data_coding=DATA_CODING[alphabet],
            source_ton=1,
            source_npi=1,
        )
        made.append(Spoken(message_body(message)))
    return made
