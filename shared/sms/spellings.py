"""Other ways in which networks write the number of the same subscriber.

Some countries have changed the form of their mobile numbers, and their networks, phones and address books go on using
both. Either form may come back in a receipt or as the sender of a STOP.
"""

import re
from typing import Final, NamedTuple


class _Insertion(NamedTuple):
    """Digits that one form of a country's mobile numbers has, and the other has not."""

    short: re.Pattern[str]
    """The form without them, in two groups between which they stand."""
    long: re.Pattern[str]
    digits: str


def _insertion(country_code: str, before: str, digits: str, after: str) -> _Insertion:
    short = re.compile(rf"({country_code}{before})({after})", re.ASCII)
    long = re.compile(rf"({country_code}{before}){digits}({after})", re.ASCII)
    return _Insertion(short, long, digits)


_INSERTIONS: Final = (
    _insertion("52", "", "1", r"[2-9][0-9]{9}"),  # Mexico: +52 1 before mobile numbers until 2019
    _insertion("54", "", "9", r"[1-8][0-9]{9}"),  # Argentina: +54 9 before mobile numbers, from abroad
    _insertion("55", r"[1-9][1-9]", "9", r"[2-9][0-9]{7}"),  # Brazil: the ninth digit, since 2012 to 2016
    _insertion("229", "", "01", r"[2-9][0-9]{7}"),  # Benin: ten digits since 30 November 2024
)


def other_spellings(phone: str) -> tuple[str, ...]:
    """The other forms of a phone, both as international digits; empty for most phones.

    >>> other_spellings("5215555010123"), other_spellings("551155550123"), other_spellings("254711000001")
    (('525555010123',), ('5511955550123',), ())
    """
    if phone[:2] not in ("52", "54", "55", "22"):
        return ()
    for insertion in _INSERTIONS:
        if match := insertion.long.fullmatch(phone):
            return (match[1] + match[2],)
        if match := insertion.short.fullmatch(phone):
            return (match[1] + insertion.digits + match[2],)
    return ()
