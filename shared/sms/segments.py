"""How many SMS a text takes, where it is cut, and which texts can be sent at all.

One SMS carries 140 octets: 160 septets of GSM-7, or 70 UTF-16 code units when one character is outside GSM-7. The
parts of a longer text each give 6 octets to the concatenation header, which leaves 153 septets or 67 code units, and
an escaped GSM-7 character is not cut in two (3GPP TS 23.040 §9.2.3.24.1), nor here a surrogate pair. So a part can be
one unit short, and a text can take a part more than its length divided by 153 or 67.

Networks say UCS-2 and handsets read UTF-16; the name follows the networks.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from shared.sms import gsm7

__all__ = [
    "MAX_CHARACTERS",
    "Encoding",
    "Segmentation",
    "replacement_of",
    "segment",
    "split",
    "text_problem",
    "transliterate",
]

Encoding = Literal["gsm7", "ucs2"]

MAX_CHARACTERS = 1600  # Unicode code points

GSM7_SINGLE, GSM7_PART = 160, 153  # septets
UCS2_SINGLE, UCS2_PART = 70, 67  # UTF-16 code units


@dataclass(frozen=True, slots=True)
class Segmentation:
    """What a text costs to send: `count` SMS, for `units` septets (gsm7) or UTF-16 code units (ucs2)."""

    encoding: Encoding
    count: int
    characters: int  # Unicode code points
    units: int


def segment(text: str) -> Segmentation:
    """Count the SMS of a text. An empty text is one: it would be sent, and charged, as one.

    Raises UnicodeEncodeError (a ValueError) for a lone surrogate, which `text_problem` reports.
    """
    if gsm7.is_gsm7(text):
        units = gsm7.septet_count(text)
        if units <= GSM7_SINGLE:
            return Segmentation("gsm7", 1, len(text), units)
        extended = units > len(text)
        count = len(_cut_septets(gsm7.encode(text))) if extended else -(-units // GSM7_PART)
        return Segmentation("gsm7", count, len(text), units)

    utf16 = text.encode("utf-16-be")
    units = len(utf16) // 2
    if units <= UCS2_SINGLE:
        return Segmentation("ucs2", 1, len(text), units)
    paired = units > len(text)
    count = len(_cut_utf16(utf16)) if paired else -(-units // UCS2_PART)
    return Segmentation("ucs2", count, len(text), units)


def split(text: str) -> list[str]:
    """The parts of a text, one to an SMS, that give the text again when joined; as many as `segment` counts.

    A part may end between a letter and its combining accent, or inside an emoji of several code points: a handset
    joins the parts before it shows them.

    Raises UnicodeEncodeError (a ValueError) for a lone surrogate.
    """
    if segment(text).count == 1:
        return [text]
    if gsm7.is_gsm7(text):
        return [gsm7.decode(part) for part in _cut_septets(gsm7.encode(text))]
    return [part.decode("utf-16-be") for part in _cut_utf16(text.encode("utf-16-be"))]


def _cut_septets(septets: bytes) -> list[bytes]:
    parts = []
    start = 0
    while start < len(septets):
        end = start + GSM7_PART
        if end < len(septets) and septets[end - 1] == gsm7.ESCAPE:
            end -= 1
        parts.append(septets[start:end])
        start = end
    return parts


def _cut_utf16(utf16: bytes) -> list[bytes]:
    parts = []
    start = 0
    while start < len(utf16):
        end = start + 2 * UCS2_PART
        # The octet two before the end opens the part's last code unit: 0xD8 to 0xDB is the first half of a pair.
        if end < len(utf16) and 0xD8 <= utf16[end - 2] <= 0xDB:
            end -= 2
        parts.append(utf16[start:end])
        start = end
    return parts


# Characters that are there and show nothing: soft hyphen, joiners, direction marks, byte order mark, variation
# selectors, tags.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"  # Hangul fillers and the empty Braille pattern
_CONTROLS = "\x00-\x1f\x7f-\x9f"

_BLANK = re.compile(rf"[\s{_CONTROLS}{_INVISIBLE}{_BLANK_LETTERS}]*+")
_REFUSED = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def text_problem(text: str) -> tuple[str, str] | None:
    """Why a text cannot be sent, as a code and a sentence with the remedy; None when it can.

    message_empty       nothing in it would show: spaces, controls, invisible characters
    message_too_long    more than 1,600 Unicode code points
    invalid_characters  a control character other than tab, line feed, form feed and carriage return, or a lone
                        surrogate (half of a character, which no encoding of Unicode can carry)
    """
    if _BLANK.fullmatch(text):
        return "message_empty", "The text has no visible character; write a message."
    if len(text) > MAX_CHARACTERS:
        return (
            "message_too_long",
            f"The text has {len(text):,} characters; shorten it to {MAX_CHARACTERS:,} or send it as several messages.",
        )
    refused = _REFUSED.search(text)
    if refused is not None:
        code = ord(refused[0])
        kind = "half of a surrogate pair" if code >= 0xD800 else "a control character"
        return "invalid_characters", f"Character {refused.start() + 1} (U+{code:04X}) is {kind}; remove it."
    return None


_REPLACEMENTS = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u02b9\u02bb\u02bc\u00b4\u0060",
    '"': "\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212",
    "/": "\u2044\u2215",
    "*": "\u2022\u2023\u25cf",
    " ": "\t",
    "\n": "\u2028\u2029",
    "(c)": "\u00a9",
    "(r)": "\u00ae",
    "TM": "\u2122",
    "SM": "\u2120",
    "a": "\u00aa",
    "o": "\u00ba",
    "x": "\u00d7",
}

# Letters that Unicode does not take apart into a base and an accent.
_LETTERS = {
    "Đ": "D", "đ": "d", "Ð": "D", "ð": "d", "Ħ": "H", "ħ": "h", "\u0131": "i", "Ł": "L", "ł": "l", "Ŋ": "N", "ŋ": "n",
    "Œ": "OE", "œ": "oe", "Ŧ": "T", "ŧ": "t", "Þ": "Th", "þ": "th", "ẞ": "SS",
}  # fmt: skip

# The default alphabet has only the Greek capitals that no Latin one looks like; it was made for these to be written so.
_GREEK_CAPITALS = dict(
    zip(
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
        "ABEZHIKMNOPTYX",
        strict=True,
    )
)

_PLAIN = str.maketrans(
    {character: plain for plain, characters in _REPLACEMENTS.items() for character in characters}
    | _LETTERS
    | _GREEK_CAPITALS
)
_DROPPED = re.compile(f"[{_INVISIBLE}]")

# Where the form is part of the meaning: compatibility tags of the Unicode Character Database (UAX #44 §5.7.3), and the
# combining class of strokes drawn through a character, which negate it. Every higher class is an accent.
_MEANINGFUL_FORMS = ("<super>", "<sub>", "<fraction>", "<circle>")
_OVERLAY = 1


def transliterate(text: str) -> str:
    """The text in GSM-7 characters, where that can be had without changing what it says; otherwise the text itself.

    It is all or nothing, as one character left over makes the whole text UCS-2 again:

    - typographic quotes, dashes, bullets and spaces become the plain ones, an ellipsis three dots, a tab a space;
    - an accent that GSM-7 lacks goes and its letter stays ("ç" is "c", "ő" is "o"); "é" and the like are kept;
    - ligatures, full-width and similar forms become what they stand for ("ﬁ" is "fi", "™" is "TM");
    - Greek capitals become the Latin ones of the same shape;
    - what shows nothing (zero-width and direction marks, soft hyphens) goes.

    Superscripts, fractions and struck-out signs stay as they are, as 10² is not 102, 1½ is not 11/2 and ≠ is not =. So
    do the degree sign, other currencies' signs, emoji and the letters of other scripts.

    The text itself is also returned where the plain form would take more SMS, being longer, or could not be sent
    (`text_problem`). So what comes back can be sent whenever the text can, and never costs more.
    """
    if gsm7.is_gsm7(text) or text_problem(text) is not None:
        return text

    # Composed first: an "e" and a combining acute are the "é" that GSM-7 has.
    composed = unicodedata.normalize("NFC", _DROPPED.sub("", text).translate(_PLAIN))
    plain = "".join(c if gsm7.is_gsm7(c) else _plain_form(c) for c in composed)

    usable = gsm7.is_gsm7(plain) and text_problem(plain) is None
    return plain if usable and segment(plain).count <= segment(text).count else text


@lru_cache(maxsize=4096)
def replacement_of(character: str) -> str | None:
    """What `transliterate` writes for one character outside GSM-7: empty where it goes, None where nothing will do.

    An accent that stands by itself goes here; `transliterate` puts it on its letter where GSM-7 has the two together.
    """
    if _DROPPED.match(character) or unicodedata.combining(character) > _OVERLAY:
        return ""
    composed = unicodedata.normalize("NFC", character.translate(_PLAIN))
    plain = "".join(c if gsm7.is_gsm7(c) else _plain_form(c) for c in composed)
    return plain if gsm7.is_gsm7(plain) else None


@lru_cache(maxsize=4096)
def _plain_form(character: str) -> str:
    """One character without its accents and typography, which may be none, or several characters."""
    if unicodedata.decomposition(character).startswith(_MEANINGFUL_FORMS):
        return character
    apart = unicodedata.normalize("NFKD", character)
    return "".join(c for c in apart if unicodedata.combining(c) <= _OVERLAY).translate(_PLAIN)
