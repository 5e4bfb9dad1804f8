"""The rate of a carrier is what was handed over between two readings."""

import pytest
from werkzeug.datastructures import MultiDict

from console.views.operator.carriers import rates_since, reading

BEFORE = [{"carrier": "main", "submitted": 1000}, {"carrier": "a&b", "submitted": 7}]


def query(at: float) -> MultiDict[str, str]:
    made: MultiDict[str, str] = MultiDict()
    for name, value in reading(BEFORE, at).items():
        made.setlist(name, [str(each) for each in value] if isinstance(value, list) else [value])
    return made


def test_it_works() -> None:
    now = [{"carrier": "main", "submitted": 1500}, {"carrier": "a&b", "submitted": 7}]
    assert rates_since(query(100.0), now, 105.0) == {"main": 100.0, "a&b": 0.0}


@pytest.mark.parametrize("at", ["", "x", "nan", "inf", "-inf", "105", "106"])
def test_an_invalid_or_later_reading_is_not_used(at: str) -> None:
    arguments = query(100.0)
    arguments["at"] = at
    assert rates_since(arguments, BEFORE, 105.0) == {}


@pytest.mark.parametrize("submitted", ["many", "9" * 400, "-" + "9" * 400, "nan", "-inf"])
def test_a_value_that_is_not_a_number_of_messages_is_not_used(submitted: str) -> None:
    arguments = query(100.0)
    arguments.setlist("submitted", [submitted])
    assert rates_since(arguments, BEFORE, 105.0) == {}
