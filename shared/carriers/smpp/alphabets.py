"""Encodes text for submits, and finds the charset that a received data_coding means.

GSM-7 is unpacked, one septet per octet, as carriers use it over SMPP. The carrier defines what data_coding 0 means, so
the caller has to say. UCS-2 is UTF-16 in network byte order.

Where SMPP 3.4 §5.2.19 names an encoding, that counts; for the other values, and for 9, the data coding scheme that
carriers pass through from the phone (3GPP TS 23.038 §4). The two agree on 0, 2, 4 and 8. They differ on 1, 3, 5 to 7,
10, 13 and 14, which the scheme reserves, or uses for UCS-2 (10).
"""

from typing import Literal

from shared.sms import charsets, gsm7

Alphabet = Literal["gsm7", "latin1", "ascii", "ucs2"]

DATA_CODING: dict[Alphabet, int] = {"gsm7": 0, "ascii": 1, "latin1": 3, "ucs2": 8}
"""The standard data_coding of each alphabet."""
_CODEC = {"ascii": "ascii", "latin1": "latin-1", "ucs2": "utf-16-be"}
_SMPP = {
    **{1: "ascii", 2: "binary", 3: "latin1", 4: "binary", 5: "jis", 6: "cyrillic", 7: "hebrew", 8: "ucs2"},
    **{10: "jis", 13: "extended-kanji", 14: "korean"},
}
_OF_BITS = {0b01: "binary", 0b10: "ucs2"}
"""The alphabet by the bits 3 and 2 of a data coding scheme of the general groups, if not the default alphabet."""
_COMPRESSED, _MESSAGE_WAITING_UCS2, _CLASS_GROUP, _EIGHT_BIT = 0x20, 0xE, 0xF, 0x04


def encode(text: str, alphabet: Alphabet) -> bytes:
    """Encode a text. Raises UnicodeEncodeError (a ValueError) for a character that is not in the alphabet."""
    return gsm7.encode(text) if alphabet == "gsm7" else text.encode(_CODEC[alphabet])


def decode(octets: bytes, data_coding: int, default: Alphabet = "gsm7") -> str:
    """Decode received octets as well as possible. Never raises. `default` is the alphabet of data_coding 0."""
    return charsets.decode(octets, charset_of(data_coding, default))


def charset_of(data_coding: int, default: Alphabet, single_shift: int = 0, locking_shift: int = 0) -> str:
    """The charset of a received text, as shared/sms/charsets.py names it. `default` is the alphabet of data_coding 0.

    The shifts are national language identifiers, or 0. They show that a text in the default alphabet is in septets.
    Compressed texts cannot be read, and are binary. What 3GPP TS 23.038 reserves is the default alphabet, as it says.
    """
    charset = _SMPP.get(data_coding) or _of_scheme(data_coding)
    if charset is None and (single_shift or locking_shift):
        return f"gsm7/{single_shift}/{locking_shift}"
    return charset or default


def _of_scheme(scheme: int) -> str | None:
    """The charset of a data coding scheme (3GPP TS 23.038 §4); None for the default alphabet."""
    group = scheme >> 4
    if group < 8:  # general data coding, or the same with the mark that the message may be deleted once read
        return "binary" if scheme & _COMPRESSED else _OF_BITS.get(scheme >> 2 & 0b11)
    if group == _CLASS_GROUP:
        return "binary" if scheme & _EIGHT_BIT else None
    return "ucs2" if group == _MESSAGE_WAITING_UCS2 else None
