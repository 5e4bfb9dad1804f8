"""Recipients as people give them: one phone, a pasted list, a CSV file with columns, or a group."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import chain
from typing import Any

PLACEHOLDER = re.compile(r"(?<!\{)\{\{ *([A-Za-z_]\w{0,31}) *(?:\|[^{}]*)?\}\}(?!\})", re.ASCII)
PHONE_NAMES = ("phone", "mobile", "msisdn", "telephone", "cell", "number", "telefon", "handy", "mobil", "nummer")
"""What a column of phones is called, the most telling word first."""
PHONE_MARKS = re.compile(r"[\s().\-/\u00a0\u2010-\u2015\u202a-\u202e\u2060\ufeff]")
OTHER_NUMBER = re.compile(r"\(\s*0\s*\)|^\s*[0-9]+(?:\.0+|(?:\.[0-9]+)?[eE]\+?[0-9]+)\s*$")
"""A number that would be another one without its punctuation: with the zero of `+49 (0)170`, or as a spreadsheet has
changed it, such as 254711009918.0."""
NOT_OF_PLACEHOLDERS = re.compile(r"[^a-z0-9_]+")
LONGEST_PLACEHOLDER = 32
MOST_COLUMNS = 100
SAMPLE = 20
"""Recipients that a preview can be chosen from."""


def placeholders(message: str) -> list[str]:
    """The names of the message's placeholders, each once."""
    return list(dict.fromkeys(PLACEHOLDER.findall(message)))


def differs_by_recipient(send: Mapping[str, Any]) -> bool:
    """Whether the recipients of a send get different texts: values that are the same for all are filled in at once."""
    return send["kind"] != "single" and bool(placeholders(send["message"] or ""))


def plain_phone(text: str) -> str:
    """A phone number without punctuation: `+254 (711) 000-000` is 254711000000. The API checks the rest, and
    says what is wrong with a number that is ambiguous."""
    if OTHER_NUMBER.search(text):
        return text.strip()
    phone = PHONE_MARKS.sub("", text)
    return phone[1:] if phone.startswith("+") else phone.removeprefix("00")


def phones_of_list(text: str) -> list[str]:
    """Phones that were pasted, one on each line or separated by commas or semicolons."""
    return [plain_phone(part) for part in re.split(r"[\n\r,;]+", text) if part.strip()]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file: the names of its columns, and its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def phone_column(self) -> int:
        """The column that most likely has the phones: by its name, or else by its first rows."""
        names = [name.strip().lower() for name in self.columns]
        exact = (names.index(word) for word in PHONE_NAMES if word in names)
        similar = (place for word in PHONE_NAMES for place, name in enumerate(names) if word in name)
        found = next(chain(exact, similar), None)
        return _most_like_phones(self) if found is None else found

    def column(self, name: str) -> int | None:
        """The index of the column for a placeholder: `First Name` is for `first_name`, as in imports into groups.

        None if there is none.
        """
        names = [_placeholder_of(column) for column in self.columns]
        return names.index(name.lower()) if name.lower() in names else None


def read_table(text: str) -> Table:
    """A CSV file with commas, semicolons or tabs. Without a row of names, the columns are numbered.

    Raises csv.Error if the text is not CSV.
    """
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = [
        tuple(cell.strip() for cell in row[:MOST_COLUMNS])
        for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        return Table((), ())
    if any(_like_phone(cell) for cell in rows[0]):
        return Table(tuple(str(number) for number in range(1, len(rows[0]) + 1)), tuple(rows))
    return Table(rows[0], tuple(rows[1:]))


def decoded(content: bytes) -> str:
    """A file's text: UTF-8, or what spreadsheet programs write (UTF-16, Windows-1252)."""
    for encoding in ("utf-8-sig", "utf-16") if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("cp1252", "replace")


def recipients_of_table(table: Table, phone_column: int, columns: Mapping[str, int]) -> list[dict[str, Any]]:
    """A recipient for each row: its phone, and a value for each placeholder that has a column.

    An empty cell counts as no value: the API uses the placeholder's default, or refuses the row.
    """
    recipients: list[dict[str, Any]] = []
    for row in table.rows:
        entry: dict[str, Any] = {"phone": plain_phone(_cell(row, phone_column))}
        variables = {name: value for name, place in columns.items() if (value := _cell(row, place))}
        if variables:
            entry["variables"] = variables
        recipients.append(entry)
    return recipients


def _placeholder_of(column: str) -> str:
    """The placeholder that a column fills."""
    name = NOT_OF_PLACEHOLDERS.sub("_", column.strip().lower()).strip("_")
    return ("_" + name if name[:1].isdigit() else name)[:LONGEST_PLACEHOLDER]


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if 0 <= place < len(row) else ""


def _like_phone(cell: str) -> bool:
    phone = plain_phone(cell)
    return phone.isdecimal() and len(phone) >= 8


def _most_like_phones(table: Table) -> int:
    first = table.rows[:SAMPLE]
    counts = [sum(_like_phone(_cell(row, place)) for row in first) for place in range(len(table.columns))]
    return counts.index(max(counts)) if counts else 0
