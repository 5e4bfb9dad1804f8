"""The price of a phone: category first, then the longest prefix."""

import pytest

from shared.prices.price_table import Price, PriceTable

TABLE = PriceTable(
    [
        ("", "", 90),
        ("", "254", 10),
        ("", "25470", 12),
        ("", "2547110", 14),
        ("authentication", "254", 15),
        ("marketing", "1", 0),
    ]
)


@pytest.mark.parametrize(
    ("phone", "category", "price"),
    [
        ("254711009918", "transactional", Price(14, "", "2547110")),
        ("254700000000", "transactional", Price(12, "", "25470")),
        ("254720000000", "transactional", Price(10, "", "254")),
        ("254711009918", "authentication", Price(15, "authentication", "254")),
        ("12025550123", "marketing", Price(0, "marketing", "1")),
        ("12025550123", "transactional", Price(90, "", "")),
        ("25", "transactional", Price(90, "", "")),
    ],
)
def test_it_works(phone: str, category: str, price: Price) -> None:
    assert TABLE.find(phone, category) == price


def test_a_list_may_have_no_price_for_a_phone() -> None:
    table = PriceTable([("", "254", 10)])
    assert table.find("4930123456", "marketing") is None
    assert PriceTable([]).find("254711009918", "marketing") is None


def test_prices_of_many_phones_are_those_of_each() -> None:
    phones = [f"{code}{rest}" for code in (254, 25470, 2547110, 1, 49) for rest in ("0000000", "1234567")]
    prices = TABLE.prices_of(phones, "transactional")
    found = [TABLE.find(phone, "transactional") for phone in phones]
    assert [prices.of(phone) for phone in phones] == [price and price.credits for price in found]
    by_price = prices.positions(phones)
    assert sorted(position for positions in by_price.values() for position in positions) == list(range(len(phones)))
    assert {prices.of(phones[position]) for position in by_price[14]} == {14}
    assert TABLE.prices_of(phones[-1:], "marketing").positions(phones[-1:]) == {90: range(1)}


@pytest.mark.parametrize(
    ("first_digits", "category", "bounds"),
    [
        ("2547", "transactional", (10, 14)),
        ("2541", "transactional", (10, 10)),
        ("2547", "authentication", (15, 15)),
        ("4930", "marketing", (90, 90)),
    ],
)
def test_the_lowest_and_highest_price_within_first_digits(
    first_digits: str, category: str, bounds: tuple[int, int]
) -> None:
    assert TABLE.bounds(first_digits, category) == bounds


def test_the_lowest_price_is_unknown_where_some_phones_have_none() -> None:
    table = PriceTable([("", "254701", 10), ("", "25471", 30)])
    assert table.bounds("2547", "marketing") == (None, 30)
    assert table.bounds("4930", "marketing") == (None, None)
