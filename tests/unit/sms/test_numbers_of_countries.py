"""Numbers of forty countries in each way that people write them are read with the country as themselves."""

from collections.abc import Iterator

import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from shared.sms.numbering import Numbering, numbering_of
from tests.harness.what_we_read import table

COUNTRIES = (
    "AR", "AT", "AU", "BD", "BE", "BR", "CA", "CH", "CI", "CL", "CN", "CO", "DE", "DK", "EG", "ES", "FR", "GB", "GH",
    "ID", "IL", "IN", "IT", "JP", "KE", "KR", "MX", "MY", "NG", "NL", "NO", "PH", "PL", "PT", "RU", "SE", "SG", "TR",
    "US", "ZA",
)  # fmt: skip
NUMBERS = 40


def mobile_numbers(country: str) -> Iterator[phonenumbers.PhoneNumber]:
    """Valid mobile numbers of a country around its example, spread over its last five digits."""
    example = phonenumbers.example_number_for_type(country, PhoneNumberType.MOBILE)
    assert example is not None
    begin = example.national_number - example.national_number % 100_000
    found = 0
    for step in range(1, 100_000):
        number = phonenumbers.PhoneNumber(example.country_code, begin + step * 7919 % 100_000)
        if phonenumbers.is_valid_number_for_region(number, country):
            yield number
            found += 1
        if found == NUMBERS:
            return


def ways(number: phonenumbers.PhoneNumber, country: str) -> Iterator[str]:
    """Each way in which people write a number."""
    e164 = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    national = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    yield from (e164, e164[1:], phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL))
    yield from (national, "".join(filter(str.isdigit, national)), str(number.national_number))
    yield from (f"\u202a{national}\u202c", f"\u2068{e164}\u2069")
    groups = national.replace("(", "").replace(")", "").replace("-", " ")
    yield from (groups.replace(" ", separator) for separator in (" ", "-", ".", "\u00a0", "\u2011"))
    code, own = number.country_code, phonenumbers.national_significant_number(number)
    yield from (f"+{code} {own}", f"+{code}-{own}", f"(+{code}) {own}", f"00{code} {own}", f"00{e164[1:]}")


@pytest.mark.parametrize("country", COUNTRIES)
def test_every_number_is_read_as_itself(country: str) -> None:
    numbering = numbering_of(country)
    wrong = {
        written: read
        for number in mobile_numbers(country)
        for written in ways(number, country)
        if (read := numbering.read(written)) != phonenumbers.format_number(number, PhoneNumberFormat.E164)[1:]
    }
    assert wrong == {}


@pytest.mark.parametrize("row", table("Phones"), ids=lambda row: f"{row['Country']} {row['Written']}")
def test_a_phone_is_read_as_the_page_says(row: dict[str, str]) -> None:
    assert Numbering(row["Country"]).read(row["Written"]) == (row["Read as"] or None)
