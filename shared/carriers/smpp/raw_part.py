"""A part of a long message, or a binary one, which a customer submits over SMPP and which is passed on as it came."""

from dataclasses import dataclass, field
from typing import Any

from shared.carriers.smpp.constants import UDH_INDICATOR
from shared.carriers.smpp.part_header import read_header, sar_of
from shared.carriers.smpp.pdu import Malformed
from shared.sms.segments import GSM7_SINGLE, Encoding

MAX_OCTETS = 140
"""Octets of a message on the air, with its user data header."""


@dataclass(frozen=True, slots=True)
class RawPart:
    """What a submit_sm has of a part. One segment.

    With data_coding 0 the text is in unpacked GSM-7; `tlvs` are the sar_ parameters.
    """

    octets: bytes = field(repr=False)
    """With the user data header, if it has one."""
    data_coding: int
    esm_class: int = 0
    tlvs: dict[int, bytes] = field(default_factory=dict, repr=False)

    @property
    def encoding(self) -> Encoding:
        """The encoding that is shown of it."""
        return "ucs2" if self.data_coding == 8 else "gsm7"

    @property
    def header_size(self) -> int:
        """Octets of the user data header, with its length."""
        return self.octets[0] + 1 if self.esm_class & UDH_INDICATOR and self.octets else 0

    @property
    def long_message(self) -> tuple[int, int] | None:
        """The reference and the number of parts of the message that it is a part of; None if it is one of its own, or
        phones would show it so (3GPP TS 23.040 §9.2.3.24.1)."""
        try:
            part = read_header(self.octets[1 : self.header_size])[0] or sar_of(self.tlvs)
        except Malformed:
            return None
        return part[:2] if part is not None and 1 <= part[2] <= part[1] > 1 else None

    @property
    def fits(self) -> bool:
        """Whether it is one segment."""
        header = self.header_size
        if self.data_coding == 0:
            return -(-header * 8 // 7) + len(self.octets) - header <= GSM7_SINGLE
        return len(self.octets) <= MAX_OCTETS

    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        tlvs = {str(tag): value.hex() for tag, value in self.tlvs.items()}
        return {"octets": self.octets.hex(), "coding": self.data_coding, "esm": self.esm_class, "tlvs": tlvs}

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> "RawPart":
        """The part that was stored."""
        tlvs = {int(tag): bytes.fromhex(value) for tag, value in stored["tlvs"].items()}
        return cls(bytes.fromhex(stored["octets"]), stored["coding"], stored["esm"], tlvs)
