"""Parses phone numbers as people write them in a country: "0711 000000" in Kenya is 254711000000.

For contact lists and senders of inbound messages only. Sends accept only international digits (`shared.sms.phones`),
because a mistake there is a message to a stranger. The numbering plans are those of libphonenumber (package
`phonenumbers`), which takes about 50 µs per number; a regex from the same plans handles the usual forms of a country's
mobile numbers.
"""

import re
from functools import lru_cache

import phonenumbers

from shared.sms.phones import MAX_WRITTEN_LENGTH, SEPARATORS, invalid_detail, is_phone, is_spreadsheet_number, suggest

__all__ = ["Numbering", "is_country", "is_possible", "numbering_of"]

MOBILE = (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE_OR_MOBILE)
_DIGITS = re.compile(r"\+?[0-9]{4,20}")
_WITHOUT_COUNTRY = (
    "This is not an international number, and the account has no country whose local numbers could be read. Start with"
    " the country code, or ask the operator to set the country with `bulksms account country`."
)


def is_country(code: str) -> bool:
    """Whether this is the ISO 3166-1 alpha-2 code of a country with a numbering plan."""
    return code in phonenumbers.SUPPORTED_REGIONS


class Numbering:
    """Parses numbers for one country, or without a country.

    >>> Numbering("KE").read("0711 000000"), Numbering("KE").read("+44 20 7946 0958"), Numbering(None).read("0711")
    ('254711000000', '442079460958', None)

    Bare digits are an international number if they are a valid one, otherwise a national number. Without a country only
    international numbers are parsed: digits, possibly with a plus sign, 00 or separators.
    """

    def __init__(self, country: str | None) -> None:
        self._country = country
        self._code = phonenumbers.country_code_for_region(country) if country else 0
        self._usual = _usual_forms(country) if country else None

    def read(self, written: str) -> str | None:
        """The international digits of a number; None if it is not a phone number."""
        if self._country is None:
            return written if is_phone(written) else suggest(written)
        match = self._usual.fullmatch(written) if self._usual else None
        if match is not None:
            digits = f"{self._code}{match['short'] or match['long']}"
            return digits if is_phone(digits) else None
        return self._by_plan(written)

    def national(self, digits: str, *, only_mobile: bool) -> str | None:
        """The international digits of a national number, with or without its leading 0; None if it is no valid one."""
        for written in (digits, digits.removeprefix("0")):
            number = _parse(written, self._country) if self._country else None
            if number is None or number.country_code != self._code or not phonenumbers.is_valid_number(number):
                continue
            if not only_mobile or phonenumbers.number_type(number) in MOBILE:
                return _digits(number)
        return None

    def problem(self, written: str) -> dict[str, str]:
        """The `code` and `detail` of a text that is not a phone number."""
        return {"code": "invalid_phone", "detail": self.detail(written)}

    def detail(self, written: str) -> str:
        """The error message for a text that is not a phone number."""
        if not written.strip() or is_spreadsheet_number(written):
            return invalid_detail(written)
        if self._country is None:
            return _WITHOUT_COUNTRY
        return f"This is neither a local number of {self._country} nor an international number."

    def _by_plan(self, written: str) -> str | None:
        if len(written) > MAX_WRITTEN_LENGTH:
            return None
        compact = written.strip().translate(SEPARATORS)
        if not _DIGITS.fullmatch(compact):
            return None
        if compact.startswith(("+", "00")):
            number = _parse("+" + (compact[1:] if compact[0] == "+" else compact[2:]), None)
            return _digits(number) if number is not None and phonenumbers.is_possible_number(number) else None
        international = _parse("+" + compact, None)
        if international is not None and phonenumbers.is_valid_number(international):
            return _digits(international)
        national = _parse(compact, self._country)
        if national is None or not phonenumbers.is_valid_number(national):
            return None
        # Where numbers may have any length (DE, AT), an international number of a range not in the plans yet is nearly
        # always somebody else's valid national number too, but not a mobile number.
        could_be_international = international is not None and _is_long_enough(international)
        if could_be_international and phonenumbers.number_type(national) not in MOBILE:
            return None
        return _digits(national)


def is_possible(digits: str) -> bool:
    """Whether there can be such an international number: one of a country, and as long as numbers are there."""
    number = _parse("+" + digits, None)
    return number is not None and _is_long_enough(number)


@lru_cache(maxsize=300)
def numbering_of(country: str | None) -> Numbering:
    """The numbering of a country, cached."""
    return Numbering(country)


def _usual_forms(country: str) -> re.Pattern[str] | None:
    """A regex of a country's mobile numbers with the country code or with the national prefix."""
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


def _is_long_enough(number: phonenumbers.PhoneNumber) -> bool:
    reason = phonenumbers.is_possible_number_with_reason(number)
    return bool(reason == phonenumbers.ValidationResult.IS_POSSIBLE)


def _digits(number: phonenumbers.PhoneNumber) -> str | None:
    digits = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[1:]
    return digits if is_phone(digits) else None
