"""Cells that a spreadsheet would evaluate."""

import pytest

from api.http.csv import FORMULA, SPECIAL, csv_cell


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", " =1+1", "\n=1+1", "\uff1d1+1", "\uff20A1", " \uff0b1"]
)
def test_a_formula_is_text(formula: str) -> None:
    assert csv_cell(formula).strip('"').startswith("'")


@pytest.mark.parametrize("value", ["Ann", " Ann", "1=1", "a@example.com", "", "254711000000"])
def test_other_cells_stay_as_they_are(value: str) -> None:
    assert csv_cell(value) == value


@pytest.mark.parametrize(
    ("value", "cell"),
    [("a,b", '"a,b"'), ('a"b', '"a""b"'), ("a\nb", '"a\nb"'), ("a\rb", '"a\rb"'), ("=a,b", '"\'=a,b"')],
)
def test_marks_of_csv_are_quoted(value: str, cell: str) -> None:
    assert csv_cell(value) == cell


def test_every_character_that_changes_a_cell_is_special() -> None:
    for mark in (*FORMULA, ",", '"', "\n", "\r"):
        assert SPECIAL.search(f"a{mark}b"), repr(mark)
