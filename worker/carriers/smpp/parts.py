"""Encodes a text and splits it into parts, exactly where segments are counted (`shared/sms/segments.py`)."""

import random
import threading
from collections import OrderedDict
from typing import NamedTuple

from shared.carriers.smpp.alphabets import DATA_CODING, Alphabet, encode
from shared.carriers.smpp.raw_part import RawPart
from shared.sms import gsm7
from shared.sms.segments import GSM7_SINGLE, UCS2_PART, UCS2_SINGLE, split
from worker.carriers.smpp.config import SmppConfig

SINGLE: dict[Alphabet, int] = {"gsm7": GSM7_SINGLE, "ucs2": 2 * UCS2_SINGLE}
"""Most octets of a text in one part. In the other alphabets an octet is not the unit that is counted."""
MAX_TRACKED_PHONES = 100_000
"""Phones whose last reference number is kept."""


class Text(NamedTuple):
    """An encoded text: the octets of each part."""

    octets: list[bytes]
    data_coding: int

    def __repr__(self) -> str:
        """Show the number of parts, not the content."""
        return f"Text({len(self.octets)} parts, data_coding={self.data_coding})"


class Unsendable(Exception):
    """The text cannot be sent to this carrier in the segments that were paid for."""


def cut(config: SmppConfig, text: str, segments: int) -> Text:
    """The parts of a text that was counted as `segments`. With long_messages `payload` there is always one.

    Raises Unsendable if the carrier's alphabet lacks a character and UCS-2 would take more parts than were paid for.
    """
    alphabet: Alphabet = config.alphabet if gsm7.is_gsm7(text) else "ucs2"
    try:
        whole = encode(text, alphabet)
        single = len(whole) <= SINGLE.get(alphabet, 0)  # the common case
        parts = [whole] if single else [encode(part, alphabet) for part in _cut(text, alphabet)]
    except UnicodeEncodeError:
        alphabet = "ucs2"
        parts = [encode(part, alphabet) for part in _cut(text, alphabet)]
    if len(parts) > segments:
        raise Unsendable(f"{len(parts)} parts in {alphabet}, but {segments} paid for")
    coding = config.coding if alphabet == config.alphabet else DATA_CODING[alphabet]
    if config.long_messages == "payload":
        parts = [b"".join(parts)]
    return Text(parts, coding)


def as_it_came(config: SmppConfig, part: RawPart) -> Text:
    """A part as the carrier takes it: its text in GSM-7 goes in the carrier's alphabet, anything else is not touched.

    Raises UnicodeEncodeError if the carrier's alphabet lacks a character.
    """
    if part.data_coding != DATA_CODING["gsm7"]:
        return Text([part.octets], part.data_coding)
    if config.alphabet == "gsm7":
        return Text([part.octets], config.coding)
    header = part.header_size
    text = gsm7.decode(part.octets[header:])
    return Text([part.octets[:header] + encode(text, config.alphabet)], config.coding)


def _cut(text: str, alphabet: Alphabet) -> list[str]:
    if alphabet == "ucs2" and gsm7.is_gsm7(text):  # every character of GSM-7 is one code unit
        if len(text) <= UCS2_SINGLE:
            return [text]
        return [text[start : start + UCS2_PART] for start in range(0, len(text), UCS2_PART)]
    return split(text)


class References:
    """Concatenation reference numbers, counted up per phone.

    Each count starts at a random number, so that processes rarely collide, and restarts after
    MAX_TRACKED_PHONES other phones.
    """

    def __init__(self) -> None:
        self._last: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def next(self, phone: str) -> int:
        """The reference of this phone's next long message."""
        with self._lock:
            number = self._last.pop(phone, None)
            number = random.getrandbits(16) if number is None else (number + 1) & 0xFFFF
            self._last[phone] = number
            if len(self._last) > MAX_TRACKED_PHONES:
                self._last.popitem(last=False)
        return number
