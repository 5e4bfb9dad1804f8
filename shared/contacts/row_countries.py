"""The country that a row of a file names beside its phone, by its dial code, its ISO code or its name."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from babel import Locale
from babel.core import get_global
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE as COUNTRIES_OF_CODE

from shared.sms.numbering import Numbering, has_prefix, is_country, is_mobile, numbering_of
from shared.sms.written import is_spreadsheet_number, written_digits

_DIAL_CODE = re.compile(
    r"(?:\W*(?:00)?|(?P<plus>.*\+ ?))(?P<code>[1-9][0-9]{0,2})(?:\W*|\.0+| ?[-(].*|(?(plus)[^0-9].*))", re.DOTALL
)
LONGEST_NAME: Final = 100
"""Characters of a cell that are looked at."""
_LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "sw")


class Country(NamedTuple):
    """The country of a row (ISO 3166-1 alpha-2), and whether its dial code is what names it."""

    iso: str
    is_dial_code: bool


class InCountry:
    """Reads the numbers of a row that names a country, and none of them as one of another country.

    After a dial code it is a number of that country. Beside a country's name, which may be that of an address, a
    number that is a national one there is refused, unless only the account's country reads it as a mobile phone's.
    """

    def __init__(self, numbering: Numbering, country: Country) -> None:
        self._numbering = numbering
        self._country = country
        self._there = numbering_of(country.iso)

    def read(self, written: str) -> str | None:
        """The international digits of a number; None if it is no phone number, or uncertain."""
        found = self._numbering.read(written)
        code = str(self._there.code)
        is_in_code = self._country.is_dial_code and self._numbering.code == self._there.code
        if has_prefix(written) or (is_in_code and found and found.startswith(code)):
            return found
        there = self._there.read(written)
        if there is not None and not there.startswith(code):
            there = None
        if self._country.is_dial_code or (there is not None and there in (found, written_digits(written))):
            return there
        is_own = there is None or (found and is_mobile(found) and not is_mobile(there))
        return found if is_own else None

    def problem(self, written: str) -> dict[str, str]:
        """The `code` and `detail` of a text that is not a phone number."""
        if has_prefix(written) or is_spreadsheet_number(written) or self._there.read(written) is None:
            return self._numbering.problem(written)
        named = f"+{self._there.code}" if self._country.is_dial_code else self._country.iso
        detail = f"The row's country is {named}: start the phone number with a plus sign and its country code."
        return {"code": "invalid", "detail": detail}


def numbering_of_row(numbering: Numbering, cells: Sequence[str], columns: Sequence[int]) -> Numbering | InCountry:
    """How numbers of a row are read: by the country that one of the `columns` names.

    A dial code comes before a name, and the account's country before others.
    """
    named = [country for at in columns if at < len(cells) and (country := country_named(cells[at][:LONGEST_NAME]))]
    if not named:
        return numbering
    return _in_country(numbering, max(named, key=lambda each: (each.is_dial_code, numbering is numbering_of(each.iso))))


@lru_cache(maxsize=1_000)
def country_named(cell: str) -> Country | None:
    """The country that a cell names; None if it names none."""
    if code := _DIAL_CODE.fullmatch(cell):
        iso = COUNTRIES_OF_CODE.get(int(code["code"]), ("",))[0]
    else:
        aliases = get_global("territory_aliases").get(cell.upper(), [cell.upper()])
        iso = aliases[0] if is_country(aliases[0]) else _names().get(cell.casefold(), "")
    return Country(iso, code is not None) if is_country(iso) else None


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    return {name.casefold(): iso for language in _LANGUAGES for iso, name in Locale.parse(language).territories.items()}


@lru_cache(maxsize=300)
def _in_country(numbering: Numbering, country: Country) -> Numbering | InCountry:
    is_own = numbering is numbering_of(country.iso) and not country.is_dial_code
    return numbering if is_own else InCountry(numbering, country)
