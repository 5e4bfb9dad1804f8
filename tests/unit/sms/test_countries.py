"""The country of a phone."""

from shared.sms import countries
from shared.sms.countries import country_of


def test_a_country_is_remembered_once_for_all_phones_of_a_prefix() -> None:
    """The cache is never emptied: it may not grow with the phones that are sent to."""
    countries._country_of.cache_clear()
    assert {country_of(f"254711{number:06}") for number in range(1000)} == {"KE"}
    assert countries._country_of.cache_info().currsize == 1
