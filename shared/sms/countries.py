"""Which country a phone belongs to, by its first digits alone."""

from functools import cache

import phonenumbers

PREFIX = 4
"""Digits that decide: a country code has 3 at most, and +1 is divided by the 3 after it."""


@cache
def country_of(phone: str) -> str | None:
    """The country (ISO 3166-1, two letters) of a phone that begins with these digits, of which the first 4 decide.

    Countries that share a code: +1 is told apart by area code, +7 by the digit after it; the others count as the
    largest of them (a phone on Jersey as GB). None: no country has such phones, as with satellites (+870).
    """
    prefix = phone[:PREFIX]
    if prefix.startswith("1"):
        number = phonenumbers.PhoneNumber(country_code=1, national_number=int(prefix[1:].ljust(3, "0") + "2345678"))
        return phonenumbers.region_code_for_number(number) or None
    if prefix.startswith("7"):
        return "KZ" if prefix[1:2] in ("6", "7") else "RU"
    for digits in (2, 3):
        if prefix[:digits].isdigit() and int(prefix[:digits]) in phonenumbers.COUNTRY_CODE_TO_REGION_CODE:
            region: str = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[int(prefix[:digits])][0]
            return region if len(region) == 2 and region.isalpha() else None
    return None
