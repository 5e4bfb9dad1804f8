"""Counts and splits the segments of a text, validates texts, and transliterates them to GSM-7.

A single SMS has 140 octets: 160 septets of GSM-7, or 70 UTF-16 code units if any character is outside GSM-7. The parts
of a longer text lose 6 octets each to the concatenation header, which leaves 153 septets or 67 code units. Neither an
escaped GSM-7 character (3GPP TS 23.040 §9.2.3.24.1) nor, here, a surrogate pair is cut in two, so a part can be one
unit short, and a text can need one part more than its length divided by 153 or 67.

Networks call the encoding UCS-2 although handsets read UTF-16; the name follows the networks.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from shared.sms import gsm7

Encoding = Literal["gsm7", "ucs2"]

MAX_CHARACTERS = 1600  # Unicode code points

GSM7_SINGLE, GSM7_PART = 160, 153  # septets
UCS2_SINGLE, UCS2_PART = 70, 67  # UTF-16 code units


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The segments of a text: `count` SMS with `units` septets (gsm7) or UTF-16 code units (ucs2)."""

    encoding: Encoding
    count: int
    characters: int  # Unicode code points
    units: int


def segment(text: str) -> Segmentation:
    """Count the segments of a text. An empty text has one: it would be sent and charged as one.

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
    """Split a text into segments, as many as `segment` counts. Joined, they are the text.

    A part may end between a letter and its combining accent, or inside an emoji of several code points: handsets
    join the parts before they show them.

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
        # 0xD8 to 0xDB in the high octet of the last code unit: it is the first half of a surrogate pair.
        if end < len(utf16) and 0xD8 <= utf16[end - 2] <= 0xDB:
            end -= 2
        parts.append(utf16[start:end])
        start = end
    return parts


# Characters that show nothing: soft hyphen, joiners, direction marks, byte order mark, variation
# selectors, tags.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"  # Hangul fillers and the empty Braille pattern
_CONTROLS = "\x00-\x1f\x7f-\x9f"

_BLANK = re.compile(rf"[\s{_CONTROLS}{_INVISIBLE}{_BLANK_LETTERS}]*+")
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates."""


def text_problem(text: str) -> tuple[str, str] | None:
    """Why a text cannot be sent, as a code and a message with the remedy; None if it can.

    message_empty       nothing visible: only spaces, controls, invisible characters
    message_too_long    more than 1,600 Unicode code points
    invalid_characters  a control character other than tab, line feed, form feed and carriage return, or a lone
                        surrogate (half of a character, which no Unicode encoding allows)
    """
    if _BLANK.fullmatch(text):
        return "message_empty", "The text has no visible character; write a message."
    if len(text) > MAX_CHARACTERS:
        return (
            "message_too_long",
            f"The text has {len(text):,} characters; shorten it to {MAX_CHARACTERS:,} or send it as several messages.",
        )
    match = FORBIDDEN.search(text)
    if match is not None:
        code = ord(match[0])
        kind = "half of a surrogate pair" if code >= 0xD800 else "a control character"
        return "invalid_characters", f"Character {match.start() + 1} (U+{code:04X}) is {kind}; remove it."
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

# Letters that Unicode does not decompose into a base letter and an accent.
_LETTERS = {
    "Đ": "D", "đ": "d", "Ð": "D", "ð": "d", "Ħ": "H", "ħ": "h", "\u0131": "i", "Ł": "L", "ł": "l", "Ŋ": "N", "ŋ": "n",
    "Œ": "OE", "œ": "oe", "Ŧ": "T", "ŧ": "t", "Þ": "Th", "þ": "th", "ẞ": "SS",
}  # fmt: skip

# The default alphabet has only those Greek capitals that look like no Latin letter; the others are to be written in
# Latin.
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
_TYPOGRAPHY = re.compile(f"[{re.escape(''.join(map(chr, _PLAIN)))}]")
_DROPPED = re.compile(f"[{_INVISIBLE}]")

# Forms that are part of the meaning: compatibility tags of the Unicode Character Database (UAX #44 §5.7.3), and the
# combining class of strokes through a character, which negate it. Every higher class is an accent.
_MEANINGFUL_FORMS = ("<super>", "<sub>", "<fraction>", "<circle>")
_OVERLAY = 1
_TOO_MANY_ACCENTS = re.compile(rb"[^\0]{31}")  # in the combining classes of a text


def transliterate(text: str) -> str:
    """Rewrite a text in GSM-7 characters if that does not change its meaning; otherwise return it unchanged.

    All or nothing, because a single other character makes the whole text UCS-2:

    - typographic quotes, dashes, bullets and spaces become the plain ones, an ellipsis three dots, a tab a space;
    - accents that GSM-7 lacks are removed ("ç" becomes "c", "ő" "o"); "é" and the like are kept;
    - ligatures, full-width and similar forms become plain letters ("ﬁ" becomes "fi", "™" "TM");
    - Greek capitals become Latin ones of the same shape;
    - invisible characters (zero-width and direction marks, soft hyphens) are removed.

    Superscripts, fractions and struck-out signs are not rewritten, because 10² is not 102, 1½ is not 11/2 and ≠ is not
    =. Neither are the degree sign, other currency signs, emoji and letters of other scripts.

    The text is also returned unchanged if the rewritten one would need more segments or could not be sent
    (`text_problem`), or if more than 30 combining characters follow each other: no language needs them (UAX #15 §13),
    and composing them takes time that grows with their square.
    """
    if gsm7.is_gsm7(text) or text_problem(text) is not None:
        return text
    visible = _DROPPED.sub("", text)
    if _TOO_MANY_ACCENTS.search(bytes(map(unicodedata.combining, visible))):
        return text
    if _TYPOGRAPHY.search(visible):
        visible = visible.translate(_PLAIN)

    # Composed first: an "e" and a combining acute are the "é" that GSM-7 has.
    plain = unicodedata.normalize("NFC", visible).translate(_PLAIN_FORMS)

    usable = gsm7.is_gsm7(plain) and text_problem(plain) is None
    return plain if usable and segment(plain).count <= segment(text).count else text


@lru_cache(maxsize=4096)
def replacement_of(character: str) -> str | None:
    """The replacement of a character outside GSM-7 by `transliterate`: empty if it is removed, None if there is none.

    A combining accent alone is removed here; `transliterate` first composes it with its letter, which GSM-7 may have.
    """
    if _DROPPED.match(character) or unicodedata.combining(character) > _OVERLAY:
        return ""
    composed = unicodedata.normalize("NFC", character.translate(_PLAIN))
    plain = composed.translate(_PLAIN_FORMS)
    return plain if gsm7.is_gsm7(plain) else None


def _plain_form(character: str) -> str:
    """A character without accents and typography; the result may be empty or several characters."""
    if gsm7.is_gsm7(character) or unicodedata.decomposition(character).startswith(_MEANINGFUL_FORMS):
        return character
    decomposed = unicodedata.normalize("NFKD", character)
    return "".join(c for c in decomposed if unicodedata.combining(c) <= _OVERLAY).translate(_PLAIN)


class _PlainForms(dict[int, str]):
    """A table for `str.translate` with `_plain_form` of each code point that was asked for."""

    def __missing__(self, code: int) -> str:
        plain = _plain_form(chr(code))
        if len(self) < _MAX_PLAIN_FORMS:
            self[code] = plain
        return plain


_MAX_PLAIN_FORMS = 4096
_PLAIN_FORMS = _PlainForms()
