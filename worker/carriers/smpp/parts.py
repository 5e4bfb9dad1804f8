"""A text as the octets of its parts, cut exactly where it is counted (`shared/sms/segments.py`)."""

import random
import threading
from collections import OrderedDict
from typing import NamedTuple

from shared.carriers.smpp.alphabets import DATA_CODING, Alphabet, encode
from shared.sms import gsm7
from shared.sms.segments import GSM7_SINGLE, UCS2_PART, UCS2_SINGLE, split
from worker.carriers.smpp.config import SmppConfig

SINGLE: dict[Alphabet, int] = {"gsm7": GSM7_SINGLE, "ucs2": 2 * UCS2_SINGLE}
"""Octets of a text that is not cut. In the other alphabets an octet is not what is counted."""
REMEMBERED = 100_000
"""Phones whose last reference number is remembered."""


class Text(NamedTuple):
    """A text on the wire: the octets of each of its parts."""

    octets: list[bytes]
    data_coding: int

    def __repr__(self) -> str:
        """How many parts, and not what they say."""
        return f"Text({len(self.octets)} parts, data_coding={self.data_coding})"


class Unsendable(Exception):
    """The text cannot be sent to this carrier for what it cost."""


def cut(config: SmppConfig, text: str, segments: int) -> Text:
    """The parts of a text that was counted as `segments`. With long_messages `payload` it is always one.

    Raises Unsendable where the carrier's alphabet lacks a character, and UCS-2 would take more parts than were paid.
    """
    alphabet: Alphabet = config.alphabet if gsm7.is_gsm7(text) else "ucs2"
    try:
        whole = encode(text, alphabet)
        single = len(whole) <= SINGLE.get(alphabet, 0)  # as most are
        parts = [whole] if single else [encode(part, alphabet) for part in _cut(text, alphabet)]
    except UnicodeEncodeError:
        alphabet = "ucs2"
        parts = [encode(part, alphabet) for part in _cut(text, alphabet)]
    if len(parts) > segments:
        raise Unsendable(f"{len(parts)} parts in {alphabet}, {segments} were paid")
    coding = config.coding if alphabet == config.alphabet else DATA_CODING[alphabet]
    if config.long_messages == "payload":
        parts = [b"".join(parts)]
    return Text(parts, coding)


def _cut(text: str, alphabet: Alphabet) -> list[str]:
    if alphabet == "ucs2" and gsm7.is_gsm7(text):  # every character of GSM-7 is one code unit
        return [text[start : start + UCS2_PART] for start in range(0, len(text), UCS2_PART)]
    return split(text)


class References:
    """Numbers that tell long messages to one phone apart: the next of each phone's own count.

    A count begins anywhere, so that several processes seldom meet. After REMEMBERED other phones it begins anew.
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
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)
        return number
