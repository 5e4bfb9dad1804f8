"""Phone numbers as people write them, read for the country of an account: "0711 000000" in Kenya is 254711000000.

For lists of contacts only. A send takes nothing but international digits (`shared.phones`), because there a mistake is
a message to a stranger. The numbering plans are those of libphonenumber (the package `phonenumbers`), which takes some
50 µs for a number; the usual forms of a country's mobile numbers are known by one pattern of the same plans.
"""

import re
from functools import lru_cache

import phonenumbers

from shared.phones import LONGEST_WRITTEN, SEPARATORS, invalid_detail, is_phone, suggest

__all__ = ["Numbering", "is_country", "numbering_of"]

_DIGITS = re.compile(r"\+?[0-9]{4,20}")


def is_country(code: str) -> bool:
    """Whether this is a country with a numbering plan, by its two letters of ISO 3166-1."""
    return code in phonenumbers.SUPPORTED_REGIONS


class Numbering:
    """Reads numbers for one country, or without one.

    >>> Numbering("KE").read("0711 000000"), Numbering("KE").read("+44 20 7946 0958"), Numbering(None).read("0711")
    ('254711000000', '442079460958', None)

    Digits alone are tried with the country's own code, then as a number inside the country, then as one from abroad.
    Without a country only international numbers are read: digits, or digits with a plus sign, 00 or separators.
    """

    def __init__(self, country: str | None) -> None:
        self._country = country
        self._code = phonenumbers.country_code_for_region(country) if country else 0
        self._usual = _usual_forms(country) if country else None

    def read(self, written: str) -> str | None:
        """The international digits of a number; None where that is no number."""
        if self._country is None:
            return written if is_phone(written) else suggest(written)
        usual = self._usual.fullmatch(written) if self._usual else None
        if usual is not None:
            digits = f"{self._code}{usual['short'] or usual['long']}"
            return digits if is_phone(digits) else None
        return self._by_plan(written)

    def detail(self, written: str) -> str:
        """A sentence for what is no number."""
        if self._country is None or not written.strip():
            return invalid_detail(written)
        return f"This is no phone number in {self._country}, and no international one."

    def _by_plan(self, written: str) -> str | None:
        if len(written) > LONGEST_WRITTEN:
            return None
        bare = written.strip().translate(SEPARATORS)
        if not _DIGITS.fullmatch(bare):
            return None
        if bare.startswith(("+", "00")):
            number = _parse("+" + (bare[1:] if bare[0] == "+" else bare[2:]), None)
            return _digits(number) if number is not None and phonenumbers.is_possible_number(number) else None
        abroad = _parse("+" + bare, None)
        own = abroad is not None and abroad.country_code == self._code
        for number in (abroad if own else None, _parse(bare, self._country), abroad):
            if number is not None and phonenumbers.is_valid_number(number):
                return _digits(number)
        return None


@lru_cache(maxsize=300)
def numbering_of(country: str | None) -> Numbering:
    """The numbering of a country, made once."""
    return Numbering(country)


def _usual_forms(country: str) -> re.Pattern[str] | None:
    """A country's mobile numbers with the country code, or with the prefix of calls inside the country."""
    plan = phonenumbers.PhoneMetadata.metadata_for_region(country)
    if plan is None or plan.mobile is None or not plan.mobile.national_number_pattern or not plan.national_prefix:
        return None
    mobile = plan.mobile.national_number_pattern
    return re.compile(rf"\+?{plan.country_code}(?P<long>{mobile})|{plan.national_prefix}(?P<short>{mobile})", re.ASCII)


def _parse(text: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None


def _digits(number: phonenumbers.PhoneNumber) -> str | None:
    digits = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[1:]
    return digits if is_phone(digits) else None
