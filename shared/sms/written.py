"""Reads one phone as people write it, with blanks and punctuation, and nothing that may be more than one phone.

A message must never go to a number that nobody wrote: `2) 254711000000` is not 2254711000000.
"""

import re
from collections.abc import Sequence

__all__ = ["DATE", "MAX_WRITTEN_LENGTH", "written_digits"]

MAX_WRITTEN_LENGTH = 64  # no written phone number is longer; avoids work on a text pasted by mistake

DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-./]?(?:0[1-9]|1[0-2])[-./]?(?:0[1-9]|[12][0-9]|3[01])"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)[0-9]{2}"
)
_BLANKS = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015"
_INVISIBLE = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_SAME = str.maketrans({**dict.fromkeys(_BLANKS, " "), **dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_INVISIBLE, "")})
_USUAL = re.compile(r"\+(?:[0-9]{8,15}|(?![17])[0-9]{2,3}(?:[ -][0-9]{2,9}){1,5})")
"""Most phones in groups, which need no closer look."""
_BULLET = re.compile(r"[-*\u2022\u00b7] *(?=[+(0-9])")
_ENCLOSED = re.compile(r"\(([^()]+)\)")
_ENCLOSED_PREFIX = re.compile(r"\((\+|00)(?=[0-9])")
_PREFIX = re.compile(r"\+ *|00[ -]*|\(00\) *")
_GROUP = re.compile(r"(?P<before> *[-/] *| +|\.)?(?P<digits>\( ?[0-9]+(?:[ -][0-9]+)* ?\)|[0-9]+)")
_NOT_A_DIGIT = re.compile(r"[^0-9]+")
_CODES_OF_TWO_DIGITS = re.compile(r"[17].|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]")
"""Country codes; 1 and 7 have one digit."""
_ZERO_STAYS = ("38", "39", "88", "225", "229", "242", "378")
"""What comes before a 0 that is dialled from abroad too: +39 06, +225 07; and +380 and +880 as people write them."""
LONGEST_WITHOUT_PLUS = 13
"""Digits of a phone in groups: with more, the first ones may be its number in a list."""
COMPLETE = 10
"""Digits of a group or of groups that may be a phone by themselves."""


def written_digits(text: str) -> str | None:
    """The digits of a phone without plus sign and leading 00; None if the text is not one phone.

    They are not checked any further: `0711-009918` is 0711009918.
    """
    if text.isascii() and text.isdigit():
        return text.removeprefix("00")
    if _USUAL.fullmatch(text):
        return _NOT_A_DIGIT.sub("", text)
    text = text.strip()
    if len(text) > MAX_WRITTEN_LENGTH:
        return None
    phone = text.translate(_SAME).strip().rstrip(" .,;-")
    if bullet := _BULLET.match(phone):
        phone = phone[bullet.end() :]
    if enclosed := _ENCLOSED.fullmatch(phone):
        phone = enclosed[1].strip()
    if enclosed := _ENCLOSED_PREFIX.match(phone):
        phone = f"{enclosed[1]}({phone[enclosed.end() :]}"
    prefix = _PREFIX.match(phone)
    found = _groups(phone, prefix.end() if prefix else 0)
    if found is None or DATE.fullmatch(phone):
        return None
    separators, groups = found
    if separators and not _are_one_phone(separators, groups, is_international=prefix is not None):
        return None
    return "".join(groups)


def _groups(phone: str, start: int) -> tuple[list[str], list[str]] | None:
    """What separates the groups of digits, and the groups; None if there is anything else."""
    separators: list[str] = []
    groups: list[str] = []
    while start < len(phone):
        found = _GROUP.match(phone, start)
        if found is None or (not groups and found["before"]):
            return None
        group = _NOT_A_DIGIT.sub("", found["digits"])
        if groups:
            is_enclosed = found["digits"].startswith("(")
            is_trunk_zero = group == "0" or (group.startswith("0") and groups[-1] not in _ZERO_STAYS)
            if is_enclosed and (is_trunk_zero or found.end() == len(phone)):
                return None  # +49 (0)170 1234567, +49 (0170) 1234567, and 491701234567 (2)
            separators.append(found["before"] or "")
        groups.append(group)
        start = found.end()
    return (separators, groups) if groups else None


def _are_one_phone(separators: Sequence[str], groups: Sequence[str], *, is_international: bool) -> bool:
    """Whether nothing shows that some of the digits are not of the phone."""
    digits = "".join(groups)
    return not (
        _has_a_phone_in_it(groups, is_international)
        or (digits[0] in "17" and len(digits) > 11)
        or (
            len(groups[0]) == 1 and groups[0] != "0" and (digits[0] not in "17" or len(digits) != 11)
        )  # no country has such a code
        or (not is_international and _is_numbered(separators, groups))
        or _has_extension(separators, groups)
        or _are_several(separators, groups, is_international=is_international)
    )


def _has_a_phone_in_it(groups: Sequence[str], is_international: bool) -> bool:
    """Whether a group is a phone by itself. 12 digits are one, except after a country code, as in +62 895123456789."""
    follows_code = is_international and len(groups) == 2 and len(groups[0]) <= 3
    return any(len(group) >= COMPLETE for group in groups[:-1]) or (len(groups[-1]) >= 12 and not follows_code)


def _is_numbered(separators: Sequence[str], groups: Sequence[str]) -> bool:
    """Whether the first group may be the number of a row: 2 - 4917 01234567, 1.4917012345, 21 49 170 1234567."""
    first, second = groups[:2]
    if first.startswith("0") or (first in _ZERO_STAYS and second.startswith("0")):
        return False  # no row has such a number; 06.12.34.56.78, 88 01712345678
    return (
        sum(map(len, groups)) > LONGEST_WITHOUT_PLUS
        or (_is_apart(separators[0]) and len(first) <= 2)
        or (separators == ["."] and len(second) >= 8)
        or (separators[0] == "." and len(first) <= 2 and set(separators) != {"."})
        or (len(first) == 2 and (second[0] == "0" or not _CODES_OF_TWO_DIGITS.fullmatch(first)))
    )


def _has_extension(separators: Sequence[str], groups: Sequence[str]) -> bool:
    """Whether the last group is an extension, as in +65 9123 4567 / 68, or what a spreadsheet adds: .0."""
    if separators[-1] == ".":
        return separators.count(".") == 1 and len(groups[-1]) <= 2
    dividers = [place for place, separator in enumerate(separators, 1) if _divides(separator)]
    if not dividers:
        return False
    length_before = sum(map(len, groups[: dividers[0]]))
    return length_before >= COMPLETE or (dividers == [len(separators)] and len(groups[-1]) <= 2)


def _are_several(separators: Sequence[str], groups: Sequence[str], *, is_international: bool) -> bool:
    """Whether these are local phones: 555-2671 / 555-2672. But +49 2151/123456 is one, after its area code."""
    shapes = [[] if is_international and len(groups[0]) <= 3 else [len(groups[0])]]
    for separator, group in zip(separators, groups[1:], strict=True):
        if _divides(separator):
            shapes.append([])
        shapes[-1].append(len(group))
    lengths = set(map(sum, shapes))
    are_alike = all(shape == shapes[0] for shape in shapes)
    return len(shapes) > 1 and len(lengths) == 1 and lengths.pop() >= (5 if are_alike else 7)


def _divides(separator: str) -> bool:
    return "/" in separator or _is_apart(separator)


def _is_apart(separator: str) -> bool:
    """Whether it is a dash or a slash with a blank beside it."""
    return " " in separator and bool(separator.strip())
