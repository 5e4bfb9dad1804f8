"""Recipients as people paste and upload them."""

import pytest

from console.message.recipients import (
    decoded,
    phones_of_list,
    placeholders,
    plain_phone,
    read_table,
    recipients_of_table,
)


@pytest.mark.parametrize(
    ("typed", "phone"),
    [
        ("+254 (711) 000-000", "254711000000"),
        ("00254711000000", "254711000000"),
        ("254.711.000.000", "254711000000"),
        ("\u202a+254\u00a0711\u2011000000\u202c", "254711000000"),
        ("0711", "0711"),
        ("hello", "hello"),
        ("+49 (0)170 1234567", "+49 (0)170 1234567"),
        ("254711009918.0 ", "254711009918.0"),
        ("2.54711E+11", "2.54711E+11"),
    ],
)
def test_a_phone_is_read_as_people_write_it(typed: str, phone: str) -> None:
    assert plain_phone(typed) == phone


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("Customer number,Phone", 1),
        ("Number of orders,Mobile phone", 1),
        ("Phone of the office,mobile", 1),
        ("Name,Rufnummer", 1),
        ("Number, PHONE ", 1),
        ("Name,Contact", 1),
    ],
)
def test_the_column_of_phones_is_found_by_its_name(columns: str, found: int) -> None:
    assert read_table(f"{columns}\nAnn,254711000000\n").phone_column == found


def test_a_list_has_a_phone_on_each_line_or_between_commas() -> None:
    assert phones_of_list("1\r\n2, 3;4\n\n ,") == ["1", "2", "3", "4"]


def test_placeholders_are_found_once_and_not_when_they_are_text() -> None:
    assert placeholders("{{a}} {{ b|x }} {{a}} {{{{c}}}} {{1d}} {e}") == ["a", "b"]


def test_only_the_first_hundred_columns_of_a_file_are_read() -> None:
    table = read_table(",".join(f"c{number}" for number in range(101)) + "\n" + "x," * 101)
    assert [len(row) for row in (table.columns, *table.rows)] == [100, 100]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_file_has_columns(delimiter: str) -> None:
    table = read_table(delimiter.join(("Name", "Mobile")) + "\n" + delimiter.join(('"A, B; C"', "+254711000000")))
    assert table.columns == ("Name", "Mobile")
    assert table.phone_column == 1 and table.column("NAME") == 0 and table.column("city") is None
    assert recipients_of_table(table, 1, {"n": 0}) == [{"phone": "254711000000", "variables": {"n": "A, B; C"}}]


def test_a_column_fills_the_placeholder_that_an_import_makes_of_its_name() -> None:
    table = read_table("Phone,First Name,2nd line,  City (home) \n254711000000,Ann,x,Kisumu\n")
    assert [table.column(name) for name in ("first_name", "First_Name", "_2nd_line", "city_home")] == [1, 1, 2, 3]


def test_a_file_without_names_has_numbered_columns() -> None:
    table = read_table("Ann,254711000000\nBen,254711000001\n")
    assert table.columns == ("1", "2") and len(table.rows) == 2 and table.phone_column == 1


def test_a_short_row_has_empty_cells() -> None:
    table = read_table("name,phone\nAnn\n\n,254711000000\n")
    assert recipients_of_table(table, 1, {"name": 0}) == [
        {"phone": "", "variables": {"name": "Ann"}},
        {"phone": "254711000000"},
    ]


@pytest.mark.parametrize(
    "content", ["Köln".encode(), "Köln".encode("utf-8-sig"), "Köln".encode("utf-16"), "Köln".encode("cp1252")]
)
def test_a_file_is_read_in_the_encodings_of_spreadsheets(content: bytes) -> None:
    assert decoded(content) == "Köln"
