"""Reads one phone as people write it, with blanks and punctuation, and nothing that may be more than one phone.

A message must never go to a number that nobody wrote: `2) 254711000000` is not 2254711000000. Whose number the digits
are is decided by `shared.sms.numbering`.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import NamedTuple

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE as COUNTRIES_OF_CODE

MAX_WRITTEN_LENGTH = 64  # no written phone number is longer; avoids work on a text pasted by mistake

DATE = re.compile(
    r"(?:19|20)[0-9]{2}(?P<mark>[-./]?)(?:0[1-9]|1[0-2])(?P=mark)(?:0[1-9]|[12][0-9]|3[01])"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)[0-9]{2}"
)
_OF_SPREADSHEET = re.compile(r"\s*[0-9]+(?:[.,]0+|(?:[.,][0-9]+)?[eE]\+?[0-9]+)\s*")
_USUAL = re.compile(r"\+(?:[0-9]{8,15}|(?![17])[0-9]{2,3}(?:[ -][0-9]{2,9}){1,5})")
"""Most phones in groups, which need no closer look."""
_LABEL = re.compile(r"(?:tel|p|phone|cell|mob|mobile|whatsapp|wa)\.?: *(?=[+(0-9])", re.IGNORECASE)
"""What some exports write before a phone: `p:+13235550123` of lead forms, `tel:` of links (RFC 3966)."""
_BULLET = re.compile(r"[-*\u2022\u00b7] *(?=[+(0-9])")
_ENCLOSED = re.compile(r"\(([^()]+)\)")
_ENCLOSED_PREFIX = re.compile(r"\((\+|00)(?=[0-9])")
_PREFIX = re.compile(r"\+ *|00[ -]*|\(00\) *")
_GROUP = re.compile(r"(?P<before> *(?:-+|/) *| +|\.)?(?P<digits>\( ?[0-9]+(?:[ -][0-9]+)* ?\)|[0-9]+)")
_PUNCTUATION = re.compile(r"[ \t\r\n()/-]+")
_NOT_A_DIGIT = re.compile(r"[^0-9]+")
_ZERO_STAYS = ("38", "39", "88", "225", "229", "242", "378")
"""What comes before a 0 that is dialled from abroad too: +39 06, +225 07; and +380 and +880 as people write them."""
LONGEST_WITHOUT_PLUS = 13
"""Digits of a phone in groups: with more, the first ones may be its number in a list."""
COMPLETE = 10
"""Digits of a group or of groups that may be a phone by themselves."""


class _SameCharacters(dict[int, str]):
    """For `str.translate`: every blank as a space, every dash as a hyphen, and nothing for what is invisible."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Zs":
            return " "
        if category == "Pd" or character == "\N{MINUS SIGN}":
            return "-"
        is_variation = "\ufe00" <= character <= "\ufe0f"
        return "" if category == "Cf" or is_variation else character


_SAME = _SameCharacters()


class Written(NamedTuple):
    """The groups of digits of one phone, and what separates them."""

    prefix: str
    """`+` or `00`; otherwise empty."""
    groups: Sequence[str]
    separators: Sequence[str]
    has_trunk_zero: bool
    """Whether the 0 that is only dialled within the country is in parentheses: +49 (0)170 1234567."""

    @property
    def digits(self) -> str:
        """All digits after the prefix."""
        return "".join(self.groups)

    def is_one_phone(self) -> bool:
        """Whether nothing shows that some of the digits are not of the phone."""
        return len(self.groups) == 1 or not (
            self._has_a_phone_in_it()
            or (self.groups[0][0] in "17" and len(self.digits) > 11)
            or self._divides_country_code()
            or (not self.prefix and self.is_numbered())
            or self._has_extension()
            or self._are_several()
        )

    def is_one_national(self, prefixes: Collection[str]) -> bool:
        """The same for a number without its country code. `prefixes` may be dialled before it, such as 8 and 011."""
        after_prefix = self.groups[self.groups[0] in prefixes :]
        complete = len(after_prefix) > 1 and any(len(group) >= COMPLETE for group in after_prefix)
        return len(self.groups) == 1 or not (complete or self._has_extension() or self._are_several())

    def _has_a_phone_in_it(self) -> bool:
        """Whether a group is a phone by itself. 12 digits are one, except after a country code: +62 895123456789."""
        follows_code = self.prefix and len(self.groups) == 2 and len(self.groups[0]) <= 3
        return any(len(group) >= COMPLETE for group in self.groups[:-1]) or (
            len(self.groups[-1]) >= 12 and not follows_code
        )

    def _divides_country_code(self) -> bool:
        """Whether the first group is not a whole country code, as in 2 4917 01234567 and 21 49 170 1234567."""
        first = self.groups[0]
        if first.startswith("0") or (first in _ZERO_STAYS and self.groups[1].startswith("0")):
            return False
        if len(first) == 1:
            return first not in "17" or len(self.digits) != 11
        return len(first) == 2 and not self.prefix and first[0] not in "17" and int(first) not in COUNTRIES_OF_CODE

    def is_numbered(self) -> bool:
        """Whether the first group may be the number of a row: 2 - 4917 01234567, 1.4917012345, 20 0722000001."""
        (first, second), before = self.groups[:2], self.separators[0]
        if first.startswith("0") or (first in _ZERO_STAYS and second.startswith("0")):
            return False  # no row has such a number; 06.12.34.56.78, 88 01712345678
        return (
            len(self.digits) > LONGEST_WITHOUT_PLUS
            or (len(first) <= 2 and (_is_apart(before) or (before == "." and set(self.separators) != {"."})))
            or (self.separators == ["."] and len(second) >= 8)
            or (len(first) == 2 and second[0] == "0")
        )

    def _has_extension(self) -> bool:
        """Whether the last group is an extension, as in +65 9123 4567 / 68, or what a spreadsheet adds: .0."""
        last = len(self.groups[-1])
        if self.separators[-1] == ".":
            return self.separators.count(".") == 1 and last <= 2
        dividers = [place for place, separator in enumerate(self.separators, 1) if _divides(separator)]
        if not dividers:
            return False
        length_before = sum(map(len, self.groups[: dividers[0]]))
        return length_before >= COMPLETE or (dividers == [len(self.separators)] and last <= 2)

    def _are_several(self) -> bool:
        """Whether these are local phones: 555-2671 / 555-2672. But +49 2151/123456 is one, after its area code."""
        shapes = [[] if self.prefix and len(self.groups[0]) <= 3 else [len(self.groups[0])]]
        for separator, group in zip(self.separators, self.groups[1:], strict=True):
            if _divides(separator):
                shapes.append([])
            shapes[-1].append(len(group))
        lengths = set(map(sum, shapes))
        are_alike = all(shape == shapes[0] for shape in shapes)
        return len(shapes) > 1 and len(lengths) == 1 and lengths.pop() >= (5 if are_alike else 7)


def written_digits(text: str) -> str | None:
    """The digits of a phone without plus sign and leading 00; None if the text is not one phone.

    They are not checked any further: `0711-009918` is 0711009918.
    """
    if text.isascii() and text.isdigit():
        return text.removeprefix("00")
    if _USUAL.fullmatch(text):
        return _NOT_A_DIGIT.sub("", text)
    phone = written_phone(text)
    return phone.digits if phone and not phone.has_trunk_zero and phone.is_one_phone() else None


def written_phone(text: str) -> Written | None:
    """The groups of digits in a text; None if there is anything else in it."""
    text = text.strip()
    if len(text) > MAX_WRITTEN_LENGTH or is_spreadsheet_number(text):
        return None
    phone = (text if text.isascii() else text.translate(_SAME)).strip().rstrip(" .,;-")
    if label := _LABEL.match(phone):
        phone = phone[label.end() :]
    if bullet := _BULLET.match(phone):
        phone = phone[bullet.end() :]
    if enclosed := _ENCLOSED.fullmatch(phone):
        phone = enclosed[1].strip()
    if enclosed := _ENCLOSED_PREFIX.match(phone):
        phone = f"{enclosed[1]}({phone[enclosed.end() :]}"
    prefix = _PREFIX.match(phone)
    return None if DATE.fullmatch(phone) else _groups(phone, prefix[0].strip("() -") if prefix else "", prefix)


def plain_digits(text: str) -> str:
    """The text without blanks and punctuation that people and carriers write in phones; empty if it is too long."""
    if len(text) > MAX_WRITTEN_LENGTH:
        return ""
    return _PUNCTUATION.sub("", text if text.isascii() else text.translate(_SAME))


def is_spreadsheet_number(text: str) -> bool:
    """Whether a spreadsheet wrote a phone as this number, such as 254711009918.0 or 2.54711E+11: digits may be lost."""
    return len(text) <= MAX_WRITTEN_LENGTH and _OF_SPREADSHEET.fullmatch(text) is not None


def _groups(phone: str, prefix: str, found_prefix: re.Match[str] | None) -> Written | None:
    start = found_prefix.end() if found_prefix else 0
    separators: list[str] = []
    groups: list[str] = []
    has_trunk_zero = False
    while start < len(phone):
        found = _GROUP.match(phone, start)
        if found is None or (not groups and found["before"]):
            return None
        group = _NOT_A_DIGIT.sub("", found["digits"])
        if groups:
            is_enclosed = found["digits"].startswith("(")
            if is_enclosed and found.end() == len(phone):
                return None  # 491701234567 (2)
            has_trunk_zero |= is_enclosed and group.startswith("0") and (group == "0" or groups[-1] not in _ZERO_STAYS)
            separators.append(found["before"] or "")
        groups.append(group)
        start = found.end()
    return Written(prefix, groups, separators, has_trunk_zero) if groups else None


def _divides(separator: str) -> bool:
    return "/" in separator or _is_apart(separator)


def _is_apart(separator: str) -> bool:
    """Whether it is a dash or a slash with a blank beside it."""
    return " " in separator and bool(separator.strip())
