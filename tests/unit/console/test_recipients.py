"""Recipients as people paste and upload them."""

import csv
import tracemalloc
from collections.abc import Iterator
from io import StringIO

import pytest

from api.accept.schemas import MAX_PHONES
from api.http.json_body import LARGE_BODY
from api.schemas.entries import MAX_ENTRIES
from console.message import recipients
from console.message.recipients import (
    LONGEST_MESSAGE,
    MOST_CHARACTERS,
    MOST_RECIPIENTS,
    TooManyRecipients,
    UnknownCharset,
    decoded,
    phones_of_list,
    plain_phone,
    read_table,
    recipients_of_table,
)
from shared.contacts.formulas import defused
from shared.sms.numbering import numbering_of
from shared.sms.phones import is_phone
from shared.sms.segments import MAX_CHARACTERS
from tests.harness.what_we_read import table


def test_a_phone_is_read_as_people_write_it() -> None:
    """tests/unit/sms/test_phones.py has the forms."""
    assert plain_phone(" +254 (711) 000-000 ") == "254711000000"
    assert plain_phone(" 2) 254711000000 ") == "2) 254711000000", "it is for the API to refuse"


@pytest.mark.parametrize(("country", "typed"), [("KE", "71100030"), ("KE", "2547110003011"), ("IN", "98765432101")])
def test_a_number_with_a_digit_too_few_or_too_many_is_no_other_phone(country: str, typed: str) -> None:
    """+98 is Iran: an Indian number with an eleventh digit must not go there."""
    file = read_table(f"Phone\n{typed}\n", numbering_of(country))
    for found in (plain_phone(typed, country), recipients_of_table(file, 0, {})[0]["phone"]):
        assert found.startswith(typed) and not is_phone(found)


def test_a_column_for_opt_outs_counts_wherever_it_is() -> None:
    names = ",".join(f"c{number}" for number in range(110))
    table = read_table(f"Phone,{names},Opted Out\n254711000000{',x' * 110},TRUE\n254711000001{',x' * 110},FALSE\n")
    assert (table.opted_out_rows, recipients_of_table(table, 0, {})) == (1, [{"phone": "254711000001"}])


def test_who_has_opted_out_in_one_row_is_left_out_of_the_others() -> None:
    """As in imports: an address book has people twice."""
    table = read_table("Phone,Opted Out\n254711000301,no\n254711000302,no\n+254 711 000301,yes\n254711000301,\n")
    assert recipients_of_table(table, 0, {}) == [{"phone": "254711000302"}]
    table = read_table("Phone,Opted Out\n+52 55 1234 5678,no\n+52 1 55 1234 5678,yes\n", numbering_of("MX"))
    assert recipients_of_table(table, 0, {}) == []


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("Customer number,Phone", 1),
        ("Number of orders,Mobile phone", 1),
        ("Phone of the office,mobile", 1),
        ("Name,Rufnummer", 1),
        ("Number, PHONE ", 1),
        ("Name,Contact", 1),
        ("Phone,Order number", None),
        ("Telephone type,Phone number", 1),
        ("Handyman,Tel.", 1),
        ("Customer number,Ring", 1),
    ],
)
def test_the_column_of_phones_is_found_by_its_name(columns: str, found: int | None) -> None:
    assert read_table(f"{columns}\nAnn,254711000000\n").phone_column == found


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("Order number,WhatsApp\n1000234567,254711000001\n", 1),
        ("Account number;Name;Kontakt\n20231127001;Ann;254711000001\n", 2),
        ("Number,Contact of the family\n1000234567,254711000001\n", None),
        ("Customer,Ring,Nr\nAnn,254711000001,1\nBen,254711000002,2\n", 1),
        ("Since,Ring\n20261127,254711000001\n2026-11-28,254711000002\n", 1),
        ("Telegram,Telefonnummer\n1000234567,254711000001\n", 1),
        ("Phone of the office,Ring\n,254711000001\n", None),
        ("Phone of the office,Ring\nnone,at nine\n", None),
        ("Phone,Ring\nnone,at nine\n", 0),
        ("National ID,Name,Number\n23456789,Ana,254711009918\n", 2),
        ("Account,Name,Contact number\n10002345,Ana,254711009918\n", 2),
        ("Kunde;Name;Rufnummer\n10002345;Ana;491701234567\n", 2),
        ("Konto;Nummer\n1234567890;491701234567\n", 1),
        ("Client;Nom;Téléphone\n10002345;Ana;33612345678\n", 2),
        ("Numéro client;Numéro de te\u0301le\u0301phone\n10002345;33612345678\n", 1),
        ("DNI;Nombre;Teléfono\n45678912;Ana;34612345678\n", 2),
        ("Kitambulisho,Jina,Namba ya simu\n23456789,Amina,254711009918\n", 2),
        ("Réf;Nom;Portable\n10002345;Ana;33612345678\n", 2),
        ("CPF,Nome,Celular\n12345678901,Ana,5511912345678\n", 2),
        ("Name,Contact,WhatsApp\nAna,254711009918,yes\nLuc,254711009919,no\n", 1),
        ("Order number,WhatsApp\n1000234567,yes\n", None),
        ("Order number,Ring\n1000234567,254711000001\n", None),
        ("Passport number,Ring\n1000234567,254711000001\n", None),
        ("Phone of Ann,Phone of Ben\n254711000001,254711000002\n", None),
        ("Name,Phone,Member No\nAna,712 3456,10012345\n", None),
        ("Name,Tel.,Handynummer\nAna,+49 30 1234567,+49 170 1234567\n", 2),
        ("Nome,Cellulare,Telefono\nAna,+39 347 1234567,+39 02 1234567\n", 1),
        ("Name,Mobile,Telephone\nAna,+254711000000,+254201234567\n", 1),
        ("People\n0711\n", 0),
    ],
)
def test_the_column_of_phones_is_taken_only_if_it_is_certain(file: str, found: int | None) -> None:
    table = read_table(file)
    assert table.has_names and table.phone_column == found


def test_a_name_of_phones_makes_a_header_of_the_first_row() -> None:
    for number in ("20261127", "1000234567", "254711000010"):
        table = read_table(f"{number},phone\nx,254711000011\n")
        assert table.has_names and table.phone_column == 1


@pytest.mark.parametrize(
    ("file", "count", "column"),
    [
        ("Ann,mobile,254711000001\nBen,home,254711000002\n", 2, 2),
        ("254711009918,WhatsApp\n254711009919,\n254711009920,\n", 3, 0),
        ("Anna,Mobile,254711009918\n", 1, 2),
        ("Anna,Mobile,254711009918\nBen,,254711009919\n", 2, 2),
        ("254711009918\nnone\n", 2, 0),
    ],
)
def test_a_first_row_with_a_phone_is_no_row_of_names(file: str, count: int, column: int) -> None:
    table = read_table(file)
    assert not table.has_names and (len(list(table.rows())), table.phone_column) == (count, column)


def test_only_the_first_hundred_columns_of_a_file_are_read() -> None:
    table = read_table(",".join(f"c{number}" for number in range(101)) + "\n" + "x," * 101)
    ((row, _),) = table.rows()
    assert (len(table.columns), len(row)) == (100, 100)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_file_has_columns(delimiter: str) -> None:
    table = read_table(delimiter.join(("Name", "Mobile")) + "\n" + delimiter.join(('"A, B; C"', "+254711000000")))
    assert table.columns == ("Name", "Mobile")
    assert table.phone_column == 1 and table.column("NAME") == 0 and table.column("city") is None
    assert recipients_of_table(table, 1, {"n": 0}) == [{"phone": "254711000000", "variables": {"n": "A, B; C"}}]


def test_a_column_fills_the_placeholder_that_an_import_makes_of_its_name() -> None:
    table = read_table("Phone,First Name,2nd line,  City (home) \n254711000000,Ann,x,Kisumu\n")
    assert [table.column(name) for name in ("first_name", "First_Name", "_2nd_line", "city_home")] == [1, 1, 2, 3]


@pytest.mark.parametrize(
    "content", ["Köln".encode(), "Köln".encode("utf-8-sig"), "Köln".encode("utf-16"), "Köln".encode("cp1252")]
)
def test_a_file_is_read_in_the_encodings_of_spreadsheets(content: bytes) -> None:
    assert decoded(content) == "Köln"


@pytest.mark.parametrize("row", table("Windows-1252 or not"), ids=lambda row: row["What it is"])
def test_a_charset_is_asked_for_where_windows_1252_is_only_a_guess(row: dict[str, str]) -> None:
    content = f"{row['Text']}\n".encode("cp1252")
    if row["Western"] == "yes":
        assert decoded(content) == f"{row['Text']}\n"
        return
    with pytest.raises(UnknownCharset):
        decoded(content)
    text, charset = row["What it is"].split(" of ")
    assert decoded(content, charset) == f"{text}\n"


@pytest.mark.parametrize("caption", ["Exports of address books", "Columns and cells"])
def test_a_file_is_read_as_an_import_reads_it(caption: str) -> None:
    """In the console a person gives national numbers their country code."""
    for row in table(caption):
        if row["Country"] in ("", "KE"):
            found = read_table(row["File"], numbering_of(row["Country"] or None))
            assert found.phone_column is not None, row["File"]
            phones = [each["phone"] for each in recipients_of_table(found, found.phone_column, {})]
            assert ", ".join(phones) == row["Read as"], row["File"]


def read_at_most(lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail if more lines of a file are read."""

    class FirstLines:
        def __init__(self, text: str, newline: str) -> None:
            self.file = StringIO(text, newline=newline)
            self.tell = self.file.tell

        def __iter__(self) -> Iterator[str]:
            for number, line in enumerate(self.file):
                assert number < lines, "a line more than necessary was read"
                yield line

    monkeypatch.setattr(recipients, "StringIO", FirstLines)


def test_the_limits_are_those_of_the_api() -> None:
    assert MOST_RECIPIENTS == MAX_PHONES == MAX_ENTRIES
    assert (MOST_CHARACTERS, LONGEST_MESSAGE) == (LARGE_BODY, MAX_CHARACTERS)


def test_a_list_is_read_until_it_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipients, "MOST_RECIPIENTS", 3)
    text = "1," * 500_000
    tracemalloc.start()
    try:
        assert len(phones_of_list(text)) == 4
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()
    assert phones_of_list("1\n2\n3\n" + "\n , ;" * 9) == ["1", "2", "3"]


@pytest.mark.parametrize("header", ["", "phone\n"])
def test_a_file_is_read_until_it_is_too_long(monkeypatch: pytest.MonkeyPatch, header: str) -> None:
    monkeypatch.setattr(recipients, "MOST_RECIPIENTS", 30)
    phone = "254711000000\n"
    assert len(recipients_of_table(read_table(header + phone * 30 + "\n" * 30), 0, {})) == 30
    read_at_most(len(header.splitlines()) + 31, monkeypatch)
    table = read_table(header + phone * 1000)
    with pytest.raises(TooManyRecipients):
        recipients_of_table(table, 0, {})


@pytest.mark.parametrize("name", ["Ann; -5%", "-Bob", "O'Brien", "'t Hooft", "=1+1"])
def test_an_exported_file_has_the_values_that_were_exported(name: str) -> None:
    table = read_table(f'phone,name\n254711000000,"{defused(name)}"\n')
    assert recipients_of_table(table, 0, {"name": 1}) == [{"phone": "254711000000", "variables": {"name": name}}]


def test_a_file_is_read_until_its_values_are_too_many_for_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipients, "MOST_CHARACTERS", 300)
    values = {"a": 1, "b": 2}
    for row, rows in (("254711000000,123,456\n", 9), ("254711000000\n", 25)):
        assert len(recipients_of_table(read_table(row * rows), 0, values)) == rows
        with pytest.raises(TooManyRecipients):
            recipients_of_table(read_table(row * (rows + 1)), 0, values)


def test_only_some_of_many_blank_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipients, "MOST_ROWS", 30)
    assert len(recipients_of_table(read_table("254711000000\n" + " ,\n" * 29), 0, {})) == 1
    read_at_most(31, monkeypatch)
    with pytest.raises(TooManyRecipients):
        read_table(" ,\n" * 1000)


@pytest.mark.parametrize("more", ["1," * 1000, '1,"\n",' * 300], ids=["one line", "lines in quotes"])
def test_a_row_is_read_until_it_is_too_long(monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    monkeypatch.setattr(recipients, "LONGEST_ROW", 200)
    rows = "phone,name\n" + 100 * '254711000000,"Ann\nBell"\n'
    assert len(recipients_of_table(read_table(rows), 0, {})) == 100
    read_at_most(3 + 100, monkeypatch)
    with pytest.raises(csv.Error):
        read_table("phone,name\n" + more)
