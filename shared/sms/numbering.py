"""Reads phone numbers as people write them in a country: "0711 000000" in Kenya is 254711000000.

For contacts, opt-outs, the console and senders of inbound messages. Sends by API take only international digits
(`shared.sms.phones`), because a mistake there is a message to a stranger. The numbering plans are those of
libphonenumber (package `phonenumbers`), which takes about 50 µs per number; a regex from the same plans handles the
usual forms of a country's mobile numbers.
"""

import re
from functools import lru_cache
from typing import Final

import phonenumbers

from shared.sms.phones import MAX_DIGITS, invalid_detail, is_phone, suggest
from shared.sms.spellings import other_spellings
from shared.sms.written import is_spreadsheet_number, written_phone

MOBILE: Final = (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE_OR_MOBILE)
DIALLED_AT_HOME: Final = {"FR": ("GP", "GF", "MQ", "RE", "YT", "PM")}
"""Territories whose mobile numbers are dialled within a country like its own, although they have codes of their own."""
_HAS_PREFIX = re.compile(r"\W*(?:\+|00)")
_DOUBLE_ZERO = re.compile("00")
_GROUPS = re.compile(r"\+?[0-9]{2,4}(?:[ -][0-9]{2,4}){1,4}")
"""The usual groups of a phone, which need no closer look."""
_WITHOUT_COUNTRY = (
    "This is not an international number, and the account has no country whose local numbers could be read. Start with"
    " the country code, or ask the operator to set the country with `bulksms account country`."
)


def has_prefix(written: str) -> bool:
    """Whether it is written as an international number: with a plus sign or 00."""
    return _HAS_PREFIX.match(written) is not None


def is_country(code: str) -> bool:
    """Whether this is the ISO 3166-1 alpha-2 code of a country with a numbering plan."""
    return code in phonenumbers.SUPPORTED_REGIONS


class Numbering:
    """Reads numbers for one country, or without a country.

    >>> Numbering("KE").read("0711 000000"), Numbering("KE").read("+44 20 7946 0958"), Numbering(None).read("0711")
    ('254711000000', '442079460958', None)

    With a plus sign or an international prefix it is an international number. Anything else is a national number of
    the country if it can be one, and otherwise an international number. The one exception: a landline without the 0
    that is dialled before it, whose digits are also an international number, is the latter. Without a country only
    international numbers are read.
    """

    def __init__(self, country: str | None) -> None:
        self._country = country
        self._code = 0
        self._trunk_prefix: str | None = None
        if country is None:
            return
        plan = phonenumbers.PhoneMetadata.metadata_for_region(country)
        assert plan is not None, country
        self._code = plan.country_code or 0
        self._trunk_prefix = plan.national_prefix if plan.country_code != 1 else None
        self._dialled_first = {prefix for prefix in (plan.national_prefix, plan.international_prefix) if prefix}
        self._international_prefix = re.compile(plan.international_prefix or "00", re.ASCII)
        plan_lengths = plan.general_desc.possible_length if plan.general_desc else (MAX_DIGITS,)
        self._longest = max(plan_lengths) + len(plan.national_prefix or "")
        self._has_one_length = plan.mobile is not None and len(plan.mobile.possible_length or plan_lengths) == 1
        self._usual = _usual_forms(plan)

    def as_listed(self, phone: int | str) -> str:
        """International digits as `read` gives them back: after a plus sign if they are also a national number."""
        digits = str(phone)
        return digits if self._country is None or self.read(digits) == digits else f"+{digits}"

    def read(self, written: str) -> str | None:
        """The international digits of a number; None if it is not a phone number."""
        if self._country is None:
            digits = written if is_phone(written) else suggest(written)
            is_sure = digits is None or digits == written or has_prefix(written) or is_valid(digits)
            return digits if is_sure else None
        match = self._usual.fullmatch(written) if self._usual else None
        if match is None and self._usual and _GROUPS.fullmatch(written):
            match = self._usual.fullmatch(written.replace(" ", "").replace("-", ""))
        if match is not None:
            digits = f"{self._code}{match[match.lastindex or 0]}"
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

    @property
    def code(self) -> int:
        """The country's code; 0 without a country."""
        return self._code

    @property
    def has_trunk_prefix(self) -> bool:
        """Whether something is dialled before a national number within the country, such as 0."""
        return self._trunk_prefix is not None

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
        phone = written_phone(written)
        if phone is None:
            return None
        is_one, dialled = phone.is_one_phone(), phone.prefix + phone.digits
        if phone.prefix == "+":
            return _international(phone.digits) if is_one else None
        if is_one and phone.prefix == "00" and (found := _valid(phone.digits)):
            return found
        is_one_national = phone.is_one_national(self._dialled_first)
        has_code = is_one and dialled.startswith(str(self._code))
        if (is_one_national or has_code) and (found := self._national(dialled)):
            return found
        if not (is_one or is_one_national):
            return None
        return self._after_prefix(dialled) or (_valid(dialled) if is_one else None)

    def _after_prefix(self, dialled: str) -> str | None:
        """The number after an international prefix: 00, which is written everywhere, before the country's own.

        Those of some countries have the digits of a carrier: 005 in Colombia, 0055 in Brazil.
        """
        prefixes = (_DOUBLE_ZERO.match(dialled), self._international_prefix.match(dialled))
        numbers = [dialled[prefix.end() :] for prefix in prefixes if prefix]
        return next((found for read in (_valid, _international) for each in numbers if (found := read(each))), None)

    def _national(self, digits: str) -> str | None:
        """A number of the country, or of one that is dialled like it; None if it is none, or is read as another's."""
        if len(digits) > self._longest and not digits.startswith(("0", str(self._code))):
            return None
        number = _parse(digits, self._country)
        if number is None or number.country_code != self._code:
            return None
        if not phonenumbers.is_valid_number(number):
            spelled = other_spellings(f"{self._code}{number.national_number}")
            return next(filter(None, map(_valid, spelled)), None) or self._in_trunk_form(digits, number)
        bare = str(number.national_number) == digits and self._trunk_prefix is not None
        if bare and phonenumbers.number_type(number) not in MOBILE and is_possible(digits):
            return None
        return _digits(number)

    def _in_trunk_form(self, digits: str, number: phonenumbers.PhoneNumber) -> str | None:
        """A number that nobody writes but within the country, as its 0 shows, and that its own plan does not know.

        It is one of a territory, or as long as a mobile number of a range that is not in the plan yet.
        """
        if self._trunk_prefix is None or not digits.startswith(self._trunk_prefix):
            return None
        for territory in DIALLED_AT_HOME.get(str(self._country), ()):
            dialled = _parse(digits, territory)
            if dialled is not None and phonenumbers.is_valid_number(dialled):
                return _digits(dialled)
        example = phonenumbers.example_number_for_type(self._country, phonenumbers.PhoneNumberType.MOBILE)
        shape = phonenumbers.national_significant_number(number)
        usual = str(example.national_number) if example is not None else ""
        is_alike = len(shape) == len(usual) and shape[0] == usual[0] and self._has_one_length
        return _digits(number) if is_alike else None


def is_possible(digits: str) -> bool:
    """Whether there can be such an international number: one of a country, and as long as numbers are there."""
    number = _parse("+" + digits, None)
    if number is None:
        return False
    reason = phonenumbers.is_possible_number_with_reason(number)
    return bool(reason == phonenumbers.ValidationResult.IS_POSSIBLE)


def is_valid(digits: str) -> bool:
    """Whether an international number is one of the plan of its country."""
    number = _parse("+" + digits, None)
    return number is not None and bool(phonenumbers.is_valid_number(number))


def is_mobile(digits: str) -> bool:
    """Whether it is or, where plans do not tell, may be a mobile phone by the numbering plan of its country."""
    number = _parse("+" + digits, None)
    return number is not None and phonenumbers.number_type(number) in MOBILE


@lru_cache(maxsize=300)
def numbering_of(country: str | None) -> Numbering:
    """The numbering of a country, cached."""
    return Numbering(country)


def _usual_forms(plan: phonenumbers.PhoneMetadata) -> re.Pattern[str] | None:
    """A regex of a country's mobile numbers: with the country code, with the national prefix, and with neither."""
    if plan.mobile is None or not plan.mobile.national_number_pattern:
        return None
    mobile = re.sub(r"\((?!\?)", "(?:", plan.mobile.national_number_pattern)
    with_prefix = f"|{plan.national_prefix}({mobile})" if plan.national_prefix else ""
    return re.compile(rf"\+?{plan.country_code}({mobile})|({mobile}){with_prefix}", re.ASCII)


def _international(digits: str) -> str | None:
    """An international number that is possible, or whose other spelling is."""
    for spelling in (digits, *other_spellings(digits)):
        number = _parse("+" + spelling, None)
        if number is not None and phonenumbers.is_possible_number(number):
            return _digits(number)
    return None


def _valid(digits: str) -> str | None:
    """An international number that is valid by its plan, or whose other spelling is."""
    for spelling in (digits, *other_spellings(digits)):
        number = _parse("+" + spelling, None)
        if number is not None and phonenumbers.is_valid_number(number):
            return _digits(number)
    return None


def _parse(text: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None


def _digits(number: phonenumbers.PhoneNumber) -> str | None:
    digits = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[1:]
    return digits if is_phone(digits) else None
