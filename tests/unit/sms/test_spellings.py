"""Two spellings of one subscriber, as networks and messengers write them."""

import pytest

from shared.sms.spellings import other_spellings


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5215555010123", "525555010123"),  # Mexico, daddyz/phonelib #254
        ("5511955550123", "551155550123"),  # Brazil, chatwoot #5840
        ("5491155550123", "541155550123"),  # Argentina, AfterShip/phone #253
        ("2290197000123", "22997000123"),  # Benin, since 2024-11-30
    ],
)
def test_each_is_the_other_spelling_of_the_other(one: str, other: str) -> None:
    assert other_spellings(one) == (other,)
    assert other_spellings(other) == (one,)


@pytest.mark.parametrize("phone", ["254711000001", "14155550100", "5255550101", "22241234567", "551155550"])
def test_most_phones_have_one(phone: str) -> None:
    assert other_spellings(phone) == ()
