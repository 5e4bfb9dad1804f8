"""A formula that was defused is read back as it was."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.contacts.csv import ContactReader
from shared.contacts.csv_lines import csv_line
from shared.contacts.formulas import defused, restored
from shared.contacts.text_stream import text_chunks
from shared.sms.numbering import numbering_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1", "'=1"),
        ("a;=1", "a;'=1"),
        ("a; +1\n@b", "a;' +1\n'@b"),
        ("\n=1", "'\n'=1"),
        ("\nab", "'\nab"),
        ("\tab", "'\tab"),
        ("'\nab", "''\nab"),
        ("\t' \n", "\t' \n"),
        ("'=1", "''=1"),
        ("a;'-1", "a;''-1"),
        ("it's; 'quoted'", "it's; 'quoted'"),
        ("1-1 = 0", "1-1 = 0"),
    ],
)
def test_an_apostrophe_comes_before_each_formula(value: str, text: str) -> None:
    assert defused(value) == text
    assert restored(text) == value


CELLS = st.text("a'\";\t\r\n =-@\uff1d", max_size=12)


@given(CELLS)
@example("\rab")
@example("\r\nab")
@example("\n'ab")
@example("\t")
@example("'\t")
def test_an_import_of_an_export_has_the_same_values(value: str) -> None:
    """Imports write every line end as a line feed, and leave out the blanks around a cell."""
    export = csv_line(["phone", "name"]) + csv_line([254711000001, value])
    ((contact,), ()) = ContactReader(numbering_of(None)).read("".join(text_chunks([export.encode()])), True)
    assert (contact.fields or {}).get("name", "").strip() == with_line_feeds(value).strip()


def with_line_feeds(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\r", "\n")
