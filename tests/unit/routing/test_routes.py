"""Which carrier a message goes through, and the reason."""

from shared.lifecycle import LANES, Category
from shared.prices.price_table import PriceTable
from worker.routing.routes import Choice, Route, Routes

ALL = {"one", "two", "three"}
PRICES = {"one": {"": 1.0, "254": 3.0}, "two": {"": 2.0, "2547": 1.5}, "three": {"255": 1.0}}


def routes(*chosen: Route) -> Routes:
    return Routes((*chosen, Route("rest", ("three",))), PRICES)


def choose(routing: Routes, phone: str = "254711000000", available: set[str] = ALL) -> Choice:
    return routing.chooser("ACME", 1, 0, available)(phone)


def test_conditions_must_all_be_met() -> None:
    routing = routes(
        Route("other sender", ("one",), senders=frozenset({"BANK"})),
        Route("other lane", ("one",), lanes=frozenset({0, 2})),
        Route("both", ("two",), senders=frozenset({"ACME"}), lanes=frozenset({1})),
    )
    assert choose(routing).route == "both"


def test_the_cheapest_is_of_the_longest_prefix() -> None:
    routing = routes(Route("cheap", ("one", "two", "three"), cheapest=True))
    assert choose(routing, "254711000000") == Choice("two", "cheap", "cheapest")
    assert choose(routing, "254911000000") == Choice("two", "cheap", "cheapest")
    assert choose(routing, "256711000000") == Choice("one", "cheap", "cheapest")


def test_the_costs_of_a_carrier_come_before_the_prices_of_the_file() -> None:
    routing = routes(Route("cheap", ("one", "two"), cheapest=True))
    routing.costs = {"one": PriceTable([("", "2547", 4), ("", "254711000", 1), ("marketing", "2547", 0)])}
    assert choose(routing, "254711000000").carrier == "one"
    assert choose(routing, "254722000000").carrier == "two"
    assert routing.chooser("ACME", LANES.index(Category.MARKETING), 0, ALL)("254722000000").carrier == "one"
    assert choose(routing, "256711000000").carrier == "two"  # to which `one` has no cost


def test_if_no_carrier_is_open_the_message_waits_for_the_first() -> None:
    routing = routes(Route("kenya", ("one", "two"), prefixes=("254",)))
    assert choose(routing, available={"three"}) == Choice("one", "kenya", "waits")


def test_a_remembered_choice_counts_only_for_the_same_available_carriers() -> None:
    routing = routes(Route("kenya", ("one", "two"), prefixes=("254",)))
    assert [choose(routing, available=available).carrier for available in (ALL, {"two"}, ALL)] == ["one", "two", "one"]
