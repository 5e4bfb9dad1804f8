"""Cells that a spreadsheet would evaluate, however it separates them."""

import csv
import io

import pytest

from shared.contacts.csv_lines import csv_cell, csv_line

FORMULAS = ("=1+1", "+1", "-1", "@A1", "\uff1d1+1", "\uff20A1")
SEPARATORS = (";", "\t", "\r", "\n", "\r\n", "; ", ";\u00a0", ';"', '; "', "a\n;")


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", " =1+1", "\n=1+1", "\uff1d1+1", "\uff20A1", " \uff0b1"]
)
def test_a_formula_is_text(formula: str) -> None:
    assert csv_cell(formula).strip('"').startswith("'")


@pytest.mark.parametrize("value", ["Ann", " Ann", "1=1", "a@example.com", "", "254711000000", "a;b", "a; b=c", "it's"])
def test_other_cells_stay_as_they_are(value: str) -> None:
    assert csv_cell(value) == value


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_within_a_value_is_text_for_every_separator_of_a_spreadsheet(separator: str, formula: str) -> None:
    line = csv_line(["254711000001", f"Ann{separator}{formula}", "x"])
    for delimiter in ",;\t":
        for row in csv.reader(io.StringIO(line, newline=""), delimiter=delimiter):
            assert not any(cell.strip().startswith(formula[0]) for cell in row), row


@pytest.mark.parametrize(
    ("value", "cell"),
    [("a,b", '"a,b"'), ('a"b', '"a""b"'), ("a\nb", '"a\nb"'), ("a\rb", '"a\nb"'), ("=a,b", '"\'=a,b"')],
)
def test_marks_of_csv_are_quoted(value: str, cell: str) -> None:
    assert csv_cell(value) == cell
