"""Messages from phones as deliver_sm PDUs; long messages have several parts."""

from itertools import count
from typing import NamedTuple

from shared.carriers.smpp.alphabets import DATA_CODING, Alphabet, encode
from shared.carriers.smpp.constants import UDH_INDICATOR, Command
from shared.carriers.smpp.pdu import HEADER, HEADER_SIZE, Message, message_body
from shared.sms import gsm7
from shared.sms.segments import split

_REFERENCES = count(1)


class InboundPart(NamedTuple):
    """A message from a phone, or a part of a long one."""

    body: bytes

    def deliver_sm(self, sequence: int, now: str) -> bytes:
        """The PDU."""
        return HEADER.pack(HEADER_SIZE + len(self.body), Command.DELIVER_SM, 0, sequence) + self.body


def inbound_parts(phone: str, recipient: str, text: str) -> list[InboundPart]:
    """The parts of a message (3GPP TS 23.040 §9.2.3.24.1), in GSM-7 if possible, else in UCS-2.

    Raises ValueError if an address is not Latin-1, or the text has more than 255 parts.
    """
    alphabet: Alphabet = "gsm7" if gsm7.is_gsm7(text) else "ucs2"
    parts = [encode(part, alphabet) for part in split(text)]
    if len(parts) > 255:
        raise ValueError(f"{len(parts)} parts are more than 255")
    reference = next(_REFERENCES) & 0xFF
    result = []
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
        result.append(InboundPart(message_body(message)))
    return result
