"""CSV as people have it."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.message.recipients import read_table, recipients_of_table
from shared.contacts.csv import Checkpoint, ContactReader, RejectedRow
from shared.contacts.groups import Contact
from shared.contacts.rows import OPEN_QUOTE
from shared.sms.numbering import numbering_of
from shared.sms.phones import is_phone

A, B, C = 254711000001, 254711000002, 254711000003


def read(text: str, country: str | None = None) -> tuple[list[Contact], list[RejectedRow]]:
    return ContactReader(numbering_of(country)).read(text, True)


def test_it_works() -> None:
    contacts, bad = read("Name,Phone,Tags\nAnn,254711000001,vip; new\nBob,0712,\n")
    assert contacts == [Contact(A, {"name": "Ann"}, ["vip", "new"])]
    assert [(row.line, row.value, row.code) for row in bad] == [(3, "0712", "invalid_phone")]


@pytest.mark.parametrize(
    ("text", "contacts"),
    [
        ("254711000001\n254711000002", [Contact(A), Contact(B)]),
        ("phone\n254711000001\n\n\n254711000002\n", [Contact(A), Contact(B)]),
        ("Ann;254711000001\nBob;254711000002\n", [Contact(A), Contact(B)]),
        ("msisdn\tFirst name\n254711000001\tAnn", [Contact(A, {"first_name": "Ann"})]),
        ('phone,note\n254711000001,"a\nb, ""c"""\n', [Contact(A, {"note": 'a\nb, "c"'})]),
        ("phone,1st,,name,name\n254711000001,x,y,Ann,Bob\n", [Contact(A, {"_1st": "x", "name": "Ann"})]),
        ("phone,name\n254711000001\n254711000002,,\n", [Contact(A, {}), Contact(B, {})]),
        ("phone,name\n'254711000001,=1+1\n", [Contact(A, {"name": "=1+1"})]),
        ("phone|tags\n254711000001|a;b\n254711000002|\n", [Contact(A, None, ["a", "b"]), Contact(B, None, [])]),
        ("customers\n254711000001\n", [Contact(A)]),
        ("", []),
        ("\n \n,,\n", []),
        (",,\nname,phone\nAnn,254711000001\n", [Contact(A, {"name": "Ann"})]),
    ],
)
def test_contacts_are_read(text: str, contacts: list[Contact]) -> None:
    assert read(text) == (contacts, [])


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ('"254711000001', "invalid"),
        ('x"y,"z', "invalid"),
        ("254711000001,a\x07b", "invalid"),
        ("=cmd|'/c calc'!A1,x", "invalid_phone"),
        ("2.54711E+11,x", "invalid_phone"),
        ("254711009918.0,x", "invalid_phone"),
        ("254711000001,Jos\ufffd", "invalid"),
        (",Ann", "invalid_phone"),
        ("x" * 100_000, "invalid_phone"),
        ("\x00\x01\x02", "invalid_phone"),
    ],
)
def test_a_bad_row_does_not_affect_others(row: str, code: str) -> None:
    contacts, bad = read(f"phone,name\n254711000002,Bob\n{row}\n" + "254711000003,Cid\n" * 60)
    assert contacts == [Contact(B, {"name": "Bob"})] + [Contact(C, {"name": "Cid"})] * 60
    assert [(one.line, one.code) for one in bad] == [(3, code)]
    assert len(bad[0].value) <= 40


def test_a_row_with_a_mistaken_quote_says_what_to_do() -> None:
    _, bad = read('phone,name\n254711000002,"Bob\n' + "254711000003,Cid\n" * 60)
    assert bad[0].detail.endswith("Close it, or write a quote inside a cell twice.")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("phone,name,balance", "0711000301,Ann,1,500"),
        ("phone,name,balance", "0711000301,Example, Ann,500"),
        ("Name,Account No,Phone,Balance", "Example, Ann,0202345678,0711000301,500"),
        ("phone,name,opted out", '"0711000301,""Example, Bob"",yes"'),  # Excel, where semicolons separate cells
    ],
)
def test_a_row_whose_cells_may_be_in_other_columns_is_refused(header: str, row: str) -> None:
    good = ",".join(["0711000302" if name.lower() == "phone" else "" for name in header.split(",")])
    file = f"{header}\n{good},,\n{row}\n"
    contacts, bad = read(file, "KE")
    assert ([each.phone for each in contacts], [each.code for each in bad]) == ([254711000302], ["invalid"])
    table = read_table(file, numbering_of("KE"))
    phones = [each["phone"] for each in recipients_of_table(table, table.phone_column or 0, {})]
    assert list(map(is_phone, phones)) == [True, False]
    throughout, bad = read(f"{header}\n{good},,,x\n", "KE")
    assert ([each.phone for each in throughout], bad) == ([254711000302], []), "columns without names"


@pytest.mark.parametrize(
    "header", ["Phone,Name,Balance", "Phone,Home Phone,Name", "Phone 1 - Value,Phone 1 - Label,Name"]
)
def test_a_checkpoint_of_a_plain_file_is_one_of_1_0_0(header: str) -> None:
    """It finds no cell before the first, and has a label for each phone, if for any."""
    reader = ContactReader(numbering_of(None))
    reader.read(f"{header}\n254711000301,,Ann\n", False)
    values = reader.checkpoint.as_dict()
    names = "line rest delimiter first_line phone other_phones labels fields tags consent"
    assert " ".join(values) == f"{names} phone_column fields_left notes countries"
    assert not values["labels"] or len(values["labels"]) == 1 + len(values["other_phones"])
    contacts, bad = ContactReader(numbering_of(None), Checkpoint(**values)).read(
        "254711000302,,Ben\n254711000303,,1,500\n", True
    )
    assert ([each.phone for each in contacts], [each.code for each in bad]) == ([254711000302], ["invalid"])


def read_twice(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is beside the phone of a file's only row, for a group and for a send from the console."""
    (contact,), _ = read(text)
    table = read_table(text)
    columns = {name: at for at, name in enumerate(table.columns) if at}
    (sent,) = recipients_of_table(table, 0, columns)
    return dict(contact.fields or {}), sent.get("variables", {})


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *((cell, "") for cell in ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#BEZUG!", "#NV", "NULL", "\\N")),
        ("1\u202f500", "1 500"),
        ("5\u00a0\u20ac", "5 \u20ac"),
        ("\u200bAnn\ufeff", "Ann"),
        ("\u2060", ""),
        ("\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0645\u06cc\u200c\u0631\u0648\u0645"),
        *((cell, cell) for cell in ("Null", "#1", "N/A", "#vip", "#REF! x")),
    ],
)
def test_a_value_is_what_a_person_sees(cell: str, value: str) -> None:
    expected = {"name": value} if value else {}
    assert read_twice(f"phone,name\n254711000001,{cell}\n") == (expected, expected)


def test_the_console_sends_to_no_row_with_a_lost_character() -> None:
    """As imports refuse it."""
    (sent,) = recipients_of_table(read_table("phone,name\n254711000001,Jos\ufffd\n"), 0, {"name": 1})
    assert not is_phone(sent["phone"])


@pytest.mark.parametrize("country", [None, "KE", "DE"])
@pytest.mark.parametrize("written", ["254711009918.0", "2.54711E+11", "254711009918,0"])
def test_a_spreadsheets_number_is_never_another_phone(country: str | None, written: str) -> None:
    contacts, bad = read(f"phone;name\n{written};Ann\n", country)
    assert contacts == []
    assert [(row.line, row.value, row.code) for row in bad] == [(2, written, "invalid_phone")]
    assert "as a spreadsheet writes it" in bad[0].detail


@pytest.mark.parametrize(("columns", "kept"), [(30, 30), (31, 30)])
def test_a_contact_has_thirty_fields(columns: int, kept: int) -> None:
    names = [f"c{number}" for number in range(columns)]
    reader = ContactReader(numbering_of(None))
    contacts, _ = reader.read(f"phone,{','.join(names)}\n254711000001{',x' * columns}\n", True)
    assert [*(contacts[0].fields or ())] == names[:kept]
    assert reader.checkpoint.fields_left == names[kept:]


TWENTY = ";".join(f"t{number}" for number in range(20))


@pytest.mark.parametrize(("tags", "count"), [(TWENTY, 20), (TWENTY + ";x", 20), ("t" * 50, 1), ("t" * 51, 1)])
def test_a_contact_has_twenty_tags_of_fifty_characters(tags: str, count: int) -> None:
    ((_, _, read_tags),), bad = read(f"phone,tags\n254711000001,{tags}\n")
    assert (read_tags, bad) == ([tag[:50] for tag in tags.split(";")][:20], []) and len(read_tags or ()) == count


FEW_LINES, MANY_LINES = ['254711000001,"', *[""] * 48], ['254711000001,"', *[""] * 49]
SHORT, LONG = ['254711000001,"', "a" * 8_178], ['254711000001,"', "a" * 8_179]


@pytest.mark.parametrize(("lines", "fits"), [(FEW_LINES, True), (MANY_LINES, False), (SHORT, True), (LONG, False)])
def test_a_row_may_go_on_in_the_next_chunk(lines: list[str], fits: bool) -> None:
    """If it has fewer than fifty lines, and at most 8,192 characters."""
    reader = ContactReader(numbering_of(None))
    begun = "\n".join(lines) + "\n"
    _, bad = reader.read("phone,\n" + begun, False)
    assert (reader.checkpoint.rest, bad[:1]) == (
        (begun, []) if fits else ("", [RejectedRow(2, "", "invalid", OPEN_QUOTE)])
    )


@pytest.mark.parametrize(("lines", "fits"), [(FEW_LINES, True), (MANY_LINES, False), (SHORT[:1], True)])
def test_a_row_has_fifty_lines(lines: list[str], fits: bool) -> None:
    contacts, bad = read("\n".join(["phone,", *lines, '"']) + "\n")
    assert (contacts, bad == []) == (([Contact(A)], True) if fits else ([], False))


@pytest.mark.parametrize(("size", "fits"), [(8_177, True), (8_178, False)])
def test_a_row_of_several_lines_has_8192_characters(size: int, fits: bool) -> None:
    contacts, bad = read("phone,\n" + SHORT[0] + "\n" + "a" * size + '"\n')
    assert (contacts, bad == []) == (([Contact(A)], True) if fits else ([], False))


cells = st.text(st.sampled_from('ab,;"\n 1é='), max_size=8)


@settings(max_examples=150)
@given(st.lists(st.tuples(cells, cells), max_size=12), st.data())
def test_however_a_file_is_cut_the_same_is_read(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["phone", "a", "b"])
    writer.writerows([str(A + number), *row] for number, row in enumerate(rows))
    text = written.getvalue()
    whole = read(text)
    assert [contact.phone for contact in whole[0]] == [A + number for number in range(len(rows))]
    for contact, (a, b) in zip(whole[0], rows, strict=True):
        assert (contact.fields or {}).get("a", "") == a.strip()
        assert (contact.fields or {}).get("b", "") == b.strip()
    checkpoint, contacts, lines = Checkpoint(), [], text.splitlines(keepends=True)
    while lines:
        count = data.draw(st.integers(1, len(lines)))
        reader = ContactReader(numbering_of(None), Checkpoint(**checkpoint.as_dict()))
        chunk, lines = "".join(lines[:count]), lines[count:]
        found, bad = reader.read(chunk, not lines)
        contacts += found
        assert bad == []
        checkpoint = reader.checkpoint
    assert contacts == whole[0]
