"""The GSM 7-bit default alphabet and its extension table (3GPP TS 23.038 §6.2.1 and §6.2.1.1).

Septets are unpacked, one per byte; packing is left to the carrier. A character of the extension table takes two
septets, the escape and its code. National language tables are read, but never written.
"""

import re
from functools import lru_cache

from shared.sms.national import LOCKING_SHIFT, SINGLE_SHIFT

ESCAPE = 0x1B

_DEFAULT = (
    "@£$¥èéùìòÇ\nØø\rÅå"
    "Δ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ"
    " !\"#¤%&'()*+,-./"
    "0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNO"
    "PQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmno"
    "pqrstuvwxyzäöñüà"
)

EXTENSION = {
    "\f": 0x0A,
    "^": 0x14,
    "{": 0x28,
    "}": 0x29,
    "\\": 0x2F,
    "[": 0x3C,
    "~": 0x3D,
    "]": 0x3E,
    "|": 0x40,
    "€": 0x65,
}

# The escape itself is not a character: a text that contains U+001B is not GSM-7.
CHARACTERS = _DEFAULT.replace(chr(ESCAPE), "") + "".join(EXTENSION)
"""Every character of the alphabet and its extension."""

# Possessive, to avoid backtracking when a text fails near its end.
_ONLY_GSM7 = re.compile(f"[{re.escape(CHARACTERS)}]*+")
_NOT_GSM7 = re.compile(f"[^{re.escape(CHARACTERS)}]")
_EXTENDED = re.compile(f"[{re.escape(''.join(EXTENSION))}]")

_TO_SEPTETS = {ord(character): chr(septet) for septet, character in enumerate(_DEFAULT)} | {
    ord(character): chr(ESCAPE) + chr(septet) for character, septet in EXTENSION.items()
}

_FROM_EXTENSION = {septet: character for character, septet in EXTENSION.items()}
_ESCAPED = re.compile(r"\x1b([\x00-\x7f]?)")


def is_gsm7(text: str) -> bool:
    """Whether every character of the text is in the default alphabet or its extension table."""
    return _ONLY_GSM7.fullmatch(text) is not None


def outside_gsm7(text: str) -> list[tuple[int, str]]:
    """The characters that are in neither table, with their indexes in code points."""
    return [(match.start(), match[0]) for match in _NOT_GSM7.finditer(text)]


def septet_count(text: str) -> int:
    """The length of a GSM-7 text in septets. Undefined for other texts."""
    return len(text) + len(_EXTENDED.findall(text))


def encode(text: str) -> bytes:
    """Encode a text as septets, one per byte; extension characters as the escape and their code.

    Raises UnicodeEncodeError (a ValueError) at the first character that is in neither table.
    """
    match = _NOT_GSM7.search(text)
    if match is not None:
        raise UnicodeEncodeError("gsm7", text, match.start(), match.end(), "not in the GSM 7-bit alphabet")
    return text.translate(_TO_SEPTETS).encode("latin-1")


def decode(septets: bytes, single_shift: int = 0, locking_shift: int = 0) -> str:
    """Decode unpacked septets as a handset must: every code gives a character.

    The shifts are national language identifiers (3GPP TS 23.038 §6.2.1.2); 0 and unknown ones are the default tables.
    An escaped code without an entry in the extension table is the alphabet's character (§6.2.1.1). An escape before
    another one, or at the end, is a space.

    Raises UnicodeDecodeError (a ValueError) at the first byte above 0x7F.
    """
    codes = septets.decode("ascii")
    alphabet = LOCKING_SHIFT.get(locking_shift, _DEFAULT)
    if ESCAPE not in septets:
        return codes.translate(alphabet)

    # Codes and characters share a range of numbers, so escaped and unescaped codes are translated separately: re.split
    # with a group alternates between the two.
    escaped = _escaped(single_shift, alphabet)
    parts = _ESCAPED.split(codes)
    parts[0::2] = [plain.translate(alphabet) for plain in parts[0::2]]
    parts[1::2] = [code.translate(escaped) or " " for code in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=64)
def _escaped(single_shift: int, alphabet: str) -> dict[int, str]:
    """Characters by the code after an escape."""
    return dict(enumerate(alphabet)) | SINGLE_SHIFT.get(single_shift, _FROM_EXTENSION) | {ESCAPE: " "}
