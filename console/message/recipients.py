"""Recipients as people give them: one phone, a pasted list, a CSV file with columns, or a group."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from itertools import islice
from typing import Any

from shared.contacts.charsets import encoding_named, is_western
from shared.contacts.columns import (
    FileColumns,
    NoContacts,
    PhoneColumns,
    read_columns,
)
from shared.contacts.formulas import restored, value_of
from shared.contacts.phone_cells import PhoneCells
from shared.contacts.rows import MORE_CELLS, RowReader, cells_problem
from shared.contacts.text_stream import REPLACEMENT, WrongEncoding, text_chunks
from shared.sms.numbering import Numbering, numbering_of
from shared.sms.phones import is_phone
from shared.sms.spellings import other_spellings
from shared.sms.written import written_digits

PLACEHOLDER = re.compile(r"(?<!\{)\{\{ *([A-Za-z_]\w{0,31}) *(?:\|[^{}]*)?\}\}(?!\})", re.ASCII)
INTERNATIONAL = numbering_of(None)
"""Reads numbers with their country code only."""
LONGEST_MESSAGE = 1600
"""Characters. The API refuses a longer message."""
PHONE_IN_LIST = re.compile(r"[^\s,;][^\n\r,;]*")
MOST_RECIPIENTS = 100_000
"""Phones in one request of the API, whether it sends to them, adds them to a group or opts them out."""
MOST_CHARACTERS = 8 * 1024 * 1024
"""Of the recipients in one request of the API, whose body may have as many bytes."""
IN_JSON = len('"":"",')
"""Characters that a name and its value take besides their own."""
MOST_COLUMNS = 100
MOST_ROWS = 1_048_576
"""Rows of a spreadsheet, blank ones too."""
LONGEST_ROW = 100_000
"""Characters."""
SAMPLE = 20
"""Recipients that a preview can be chosen from."""


class TooManyRecipients(Exception):
    """More than one send can have."""


class UnknownCharset(Exception):
    """The file is not UTF-8, and may be in several other charsets: a person has to name it."""


def placeholders(message: str) -> list[str]:
    """The names of the message's placeholders, each once."""
    return list(dict.fromkeys(PLACEHOLDER.findall(message[:LONGEST_MESSAGE])))


def differs_by_recipient(send: Mapping[str, Any]) -> bool:
    """Whether the recipients of a send get different texts: values that are the same for all are filled in at once."""
    return send["kind"] != "single" and bool(placeholders(send["message"] or ""))


def plain_phone(text: str, country: str | None = None) -> str:
    """The digits of a phone number: `+254 (711) 000-000` and, in Kenya, `0711 000 000` are 254711000000.

    `country` is that of the account, by which imports into its groups read numbers, too. Any other text is returned as
    it is, for the API to refuse: `2) 254711000000` must not become 2254711000000, which may be somebody else's phone.
    """
    digits = written_digits(text) if country is None else numbering_of(country).read(text)
    return unreadable_phone(text) if digits is None else digits


def unreadable_phone(text: str) -> str:
    """A text that is no phone number of the account's country, for the API to refuse: its digits may be a phone's in
    another country."""
    text = text.strip()
    return f"{text}?" if is_phone(text) else text


def with_plus(phone: str) -> str:
    """A phone that was read, for the API to read again: without a plus sign, it may be a national number, too."""
    return f"+{phone}" if is_phone(phone) else phone


def phones_of_list(text: str, country: str | None = None) -> list[str]:
    """Phones that were pasted, one on each line or separated by commas or semicolons.

    Reads only one more than MOST_RECIPIENTS: the API refuses them.
    """
    return [plain_phone(found[0], country) for found in islice(PHONE_IN_LIST.finditer(text), MOST_RECIPIENTS + 1)]


@dataclass(frozen=True)
class Table:
    """A CSV file: its text with all rows, and the format of the first ones, which is None if it is empty."""

    text: str = field(default="", repr=False)
    found: FileColumns | None = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; without a row of names, their numbers."""
        return tuple(self.found.names[:MOST_COLUMNS]) if self.found else ()

    @property
    def has_names(self) -> bool:
        """Whether the first row of the text has the names of the columns."""
        return self.found is not None and self.found.has_names

    def rows(self) -> Iterator[tuple[tuple[str, ...], bool]]:
        """All rows as they are read, and whether each says that the person has opted out.

        Raises TooManyRecipients or csv.Error.
        """
        return _rows(self.text, self.found)

    @cached_property
    def opted_out_rows(self) -> int:
        """How many rows say that the person has opted out."""
        return sum(opted_out for _, opted_out in self.rows())

    @cached_property
    def no_consent_rows(self) -> int:
        """How many of the others say that the person has not agreed to get messages."""
        consent = self.found.consent() if self.found else None
        if consent is None or not consent.consents:
            return 0
        return sum(consent.say_no_consent(cells) for cells, opted_out in self.rows() if not opted_out)

    @cached_property
    def more_cells_rows(self) -> int:
        """How many of the others have more cells than there are names, and so get nothing."""
        if not self.found or not self.found.width:
            return 0
        return sum(self.cells_problem(cells) == MORE_CELLS for cells, opted_out in self.rows() if not opted_out)

    def cells_problem(self, cells: Sequence[str]) -> str | None:
        """Why a row's cells may be in the wrong columns; None if nothing shows that."""
        return cells_problem(cells, self.found.width, self.found.delimiter) if self.found else None

    @cached_property
    def phone_columns(self) -> PhoneColumns | None:
        """The columns that certainly have the phones, as in an import. None if the person has to choose one."""
        try:
            return self.found.phones() if self.found else PhoneColumns([0], [])
        except NoContacts:
            return PhoneColumns([0], []) if len(self.columns) == 1 else None

    @property
    def phone_column(self) -> int | None:
        """The first of them."""
        return self.phone_columns.columns[0] if self.phone_columns else None

    def column(self, name: str) -> int | None:
        """The index of the column for a placeholder: `First Name` is for `first_name`, as in imports into groups.

        None if there is none.
        """
        place = self.found.field_columns().get(name.lower()) if self.found else None
        return place if place is not None and place < MOST_COLUMNS else None


def read_table(text: str, numbering: Numbering = INTERNATIONAL) -> Table:
    """A CSV file, as imports into groups read it.

    Raises csv.Error if the text is not CSV, and TooManyRecipients if it begins with too many blank rows.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers send it back, line ends are others
    found = read_columns(text, numbering)
    for _ in islice(_rows(text, found), SAMPLE + 1):
        pass
    return Table(text, found)


def sample_of(text: str) -> str:
    """The first lines of a CSV file: the names of the columns, and as many rows as a preview can be chosen from."""
    return "".join(islice(StringIO(text, newline=""), SAMPLE + 1))


def decoded(content: bytes, charset: str = "") -> str:
    """A file's text: in the charset, or UTF-8 or UTF-16, or what is certainly the Windows-1252 of spreadsheet programs.

    Raises UnknownCharset if it is in another one, and NotText, WrongEncoding or LineTooLong.
    """
    try:
        return "".join(text_chunks([content], encoding_named(charset) if charset else None))
    except WrongEncoding:
        if charset:
            raise
    text = content.decode("cp1252", "replace")
    if "\ufffd" in text or not is_western(text):
        raise UnknownCharset
    return text


def recipients_of_table(table: Table, phone_column: int, columns: Mapping[str, int]) -> list[dict[str, Any]]:
    """A recipient for each row: its phone, and a value for each placeholder that has a column.

    Who has opted out in one row is no recipient of another one. The API refuses a row with lost characters, or whose
    cells may be in other columns. An empty cell counts as no value: the API uses the placeholder's default, or refuses
    the row. Raises TooManyRecipients at the first row that is too much for one request of the API, and csv.Error.
    """
    recipients: list[dict[str, Any]] = []
    characters = 0
    left_out: set[str] = set()
    numbering = table.found.numbering if table.found else INTERNATIONAL
    of_phones = table.phone_columns if table.phone_columns and phone_column == table.phone_column else None
    countries = table.found.countries() if table.found else []
    find = PhoneCells(numbering, *(of_phones or ([phone_column], [])), countries).find
    for row, opted_out in table.rows():
        found = find(row)
        if opted_out:
            if found.phone:
                left_out |= {found.phone, *other_spellings(found.phone)}
            continue
        is_certain = not table.cells_problem(row) and REPLACEMENT not in "".join(row)
        entry: dict[str, Any] = {
            "phone": found.phone if found.phone and is_certain else unreadable_phone(found.written)
        }
        variables = {name: value for name, place in columns.items() if (value := value_of(_cell(row, place)))}
        if variables:
            entry["variables"] = variables
        characters += len(entry["phone"]) + sum(len(name) + len(value) + IN_JSON for name, value in variables.items())
        if len(recipients) == MOST_RECIPIENTS or characters > MOST_CHARACTERS:
            raise TooManyRecipients
        recipients.append(entry)
    return [each for each in recipients if each["phone"] not in left_out]


def _rows(text: str, found: FileColumns | None) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The first MOST_COLUMNS cells of the rows below the header that are not blank, each row read when it is asked for,
    and whether it says that the person has opted out.

    An exported file has apostrophes before what a spreadsheet would run: they are left out.
    """

    def lines() -> Iterator[str]:
        for line in StringIO(text, newline=""):
            if len(line) > LONGEST_ROW:
                raise csv.Error("A row is too long.")
            yield line

    delimiter, first_line = (found.delimiter, found.first_line) if found else (",", 0)
    consent = found.consent() if found else None
    for number, (line, row, problem) in enumerate(RowReader(lines(), delimiter)):
        if number == MOST_ROWS:
            raise TooManyRecipients
        if problem is not None:
            last_line = text.rstrip("\n").split("\n")[line - 1 :]
            if len(last_line) != 1 or len(last_line[0]) > LONGEST_ROW:
                raise csv.Error(f"Line {line:,} is not CSV: {problem}")
            (row,) = csv.reader(last_line, delimiter=delimiter)  # as spreadsheets end a quote with the file
        cells = tuple(restored(cell.strip()) for cell in row[:MOST_COLUMNS])
        if any(cells) and line >= first_line:
            yield cells, consent is not None and consent.say_opted_out(row)


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if 0 <= place < len(row) else ""
