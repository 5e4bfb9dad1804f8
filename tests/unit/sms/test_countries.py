"""The country of a phone."""

from shared.sms.countries import country_of


def test_results_are_kept_for_prefixes_but_not_for_each_phone() -> None:
    """Even if it is called with whole phones, memory is bounded."""
    for number in range(20_000):
        country_of(f"254{number:09}")
    assert country_of.cache_info().currsize == 10_000
