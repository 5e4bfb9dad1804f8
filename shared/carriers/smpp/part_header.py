"""Which part of a long message a PDU has, and in which language it is written."""

from collections.abc import Mapping

from shared.carriers.smpp.constants import Tag
from shared.carriers.smpp.pdu import Malformed


def read_header(header: bytes) -> tuple[tuple[int, int, int] | None, int, int]:
    """A part's reference, total and number (3GPP TS 23.040 §9.2.3.24.1, .8), or None; its two shifts (.15 and .16)."""
    part, shifts, at = None, {0x24: 0, 0x25: 0}, 0
    while at + 2 <= len(header):
        element, size = header[at], header[at + 1]
        value = header[at + 2 : at + 2 + size]
        if len(value) < size:
            if part is not None:
                break
            raise Malformed("an element of the user data header is truncated")
        if part is None and (element, size) in ((0x00, 3), (0x08, 4)):
            part = int.from_bytes(value[:-2], "big"), value[-2], value[-1]
        elif element in shifts and size == 1:
            shifts[element] = value[0]
        at += 2 + size
    return part, shifts[0x24], shifts[0x25]


def sar_of(tlvs: Mapping[int, bytes]) -> tuple[int, int, int] | None:
    """A part's reference, total and number in the sar_ parameters (SMPP 3.4 §5.3.2.22 to .24); None without them."""
    tags = (Tag.SAR_MSG_REF_NUM, Tag.SAR_TOTAL_SEGMENTS, Tag.SAR_SEGMENT_SEQNUM)
    values = [tlvs.get(tag, b"") for tag in tags]
    if not all(values):
        return None
    reference, total, number = (int.from_bytes(value, "big") for value in values)
    return reference, total, number
