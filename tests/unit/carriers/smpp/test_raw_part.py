"""Parts that customers made."""

import pytest

from shared.carriers.smpp.constants import UDH_INDICATOR, Tag
from shared.carriers.smpp.raw_part import RawPart

HEADER = bytes((5, 0, 3, 7, 2, 1))


def test_it_works() -> None:
    part = RawPart(HEADER + b"Hi", 0, UDH_INDICATOR, {int(Tag.SAR_TOTAL_SEGMENTS): b"\2"})
    assert RawPart.of_json(part.as_json()) == part
    assert (part.header_size, part.encoding) == (6, "gsm7")


@pytest.mark.parametrize(
    ("octets", "coding", "esm_class", "fits"),
    [
        (b"x" * 160, 0, 0, True),
        (b"x" * 161, 0, 0, False),
        (HEADER + b"x" * 153, 0, UDH_INDICATOR, True),
        (HEADER + b"x" * 154, 0, UDH_INDICATOR, False),
        (b"x" * 140, 8, 0, True),
        (b"x" * 141, 8, 0, False),
        (HEADER + b"x" * 134, 4, UDH_INDICATOR, True),
        (HEADER + b"x" * 135, 4, UDH_INDICATOR, False),
    ],
)
def test_a_part_is_one_segment(octets: bytes, coding: int, esm_class: int, fits: bool) -> None:
    assert RawPart(octets, coding, esm_class).fits == fits


@pytest.mark.parametrize(
    ("part", "long_message"),
    [
        (RawPart(HEADER + b"Hi", 0, UDH_INDICATOR), (7, 2)),
        (RawPart(bytes((6, 8, 4, 1, 7, 2, 2)), 0, UDH_INDICATOR), (0x107, 2)),
        (RawPart(b"Hi", 0, 0, {Tag.SAR_MSG_REF_NUM: b"\1\7", Tag.SAR_TOTAL_SEGMENTS: b"\3", 0x20F: b"\3"}), (0x107, 3)),
        (RawPart(bytes((5, 0, 3, 7, 2, 3)), 0, UDH_INDICATOR), None),
        (RawPart(bytes((5, 0, 3, 7, 2, 0)), 0, UDH_INDICATOR), None),
        (RawPart(bytes((5, 0, 3, 7, 1, 1)), 0, UDH_INDICATOR), None),
        (RawPart(bytes((2, 0, 3)), 0, UDH_INDICATOR), None),
        (RawPart(HEADER, 4), None),
    ],
)
def test_which_message_it_is_a_part_of(part: RawPart, long_message: tuple[int, int] | None) -> None:
    assert part.long_message == long_message
