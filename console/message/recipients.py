"""Recipients as people give them: one phone, a pasted list, a CSV file with columns, or a group."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from typing import Any

PLACEHOLDER = re.compile(r"(?<!\{)\{\{ *([A-Za-z_]\w{0,31}) *(?:\|[^{}]*)?\}\}(?!\})", re.ASCII)
PHONE_NAMES = ("phone", "mobile", "msisdn", "telephone", "cell", "tel", "whatsapp", "telefon", "handy", "mobil")
"""What a column of phones is called, the most telling word first."""
PHONE_STEMS = ("phone", "mobil", "cellphone", "telephone", "telefon", "handy", "whatsapp")
"""What longer words for them begin with, such as `Telefonnummer`."""
NUMBER_NAMES = ("number", "nummer", "no", "nr")
"""What may also be in its name, but is in those of other columns too."""
INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""What copied contacts have around a phone, such as marks of the direction of writing."""
_BLANK = r"[ \u00a0\u2007\u2009\u202f]"
_BETWEEN = rf"(?:{_BLANK}*[-/\u2010-\u2015]{_BLANK}*|{_BLANK}+|\.)"
_ENCLOSED = r"\((?!0\))[0-9]{1,9}\)"
WRITTEN_PHONE = re.compile(
    rf"\+?{_BLANK}*(?:[0-9]+|(?:\(\+?[0-9]{{1,9}}\)|[0-9]{{1,9}})"
    rf"(?:{_BETWEEN}?{_ENCLOSED}|(?:{_BETWEEN}|(?<=\)))[0-9]{{1,9}}){{0,13}}"
    rf"(?:{_BETWEEN}|(?<=\)))[0-9]{{1,11}})"
)
"""One phone, in groups of digits or not. Nothing follows a group of ten digits or more, and nothing precedes one of
twelve: it is a phone by itself, and what stands beside it is not."""
DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-./]?(?:0[1-9]|1[0-2])[-./]?(?:0[1-9]|[12][0-9]|3[01])"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)[0-9]{2}"
)
NOT_ONE_PHONE = re.compile(
    rf"""[^.]*\.0+                                   # as a spreadsheet writes it: 254 711 009 918.0
    | [0-9]+\.[0-9]{{8,}}                            # in a numbered list: 1.254711009918
    | \D*[2-689]\D.*                                 # also there: no country has a code of one digit, except
    | \D*[17]\D(?!(?:\D*[0-9]){{10}}\Z).*            # 1 and 7, whose phones have 11 digits
    | {DATE.pattern}""",
    re.VERBOSE | re.ASCII,
)
"""Digits in groups that are not one phone."""
NOT_A_DIGIT = re.compile(r"[^0-9]+")
NOT_OF_PLACEHOLDERS = re.compile(r"[^a-z0-9_]+")
LONGEST_PLACEHOLDER = 32
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


def placeholders(message: str) -> list[str]:
    """The names of the message's placeholders, each once."""
    return list(dict.fromkeys(PLACEHOLDER.findall(message[:LONGEST_MESSAGE])))


def differs_by_recipient(send: Mapping[str, Any]) -> bool:
    """Whether the recipients of a send get different texts: values that are the same for all are filled in at once."""
    return send["kind"] != "single" and bool(placeholders(send["message"] or ""))


def plain_phone(text: str) -> str:
    """A phone number without punctuation: `+254 (711) 000-000` is 254711000000.

    Any other text is returned as it is, for the API to refuse: `2) 254711000000` must not become 2254711000000, which
    may be somebody else's phone.
    """
    phone = INVISIBLE.sub("", text).strip()
    if not WRITTEN_PHONE.fullmatch(phone) or (not phone.isdecimal() and NOT_ONE_PHONE.fullmatch(phone)):
        return text.strip()
    digits = NOT_A_DIGIT.sub("", phone)
    return digits if "+" in phone else digits.removeprefix("00")


def phones_of_list(text: str) -> list[str]:
    """Phones that were pasted, one on each line or separated by commas or semicolons.

    Reads only one more than MOST_RECIPIENTS: the API refuses them.
    """
    return [plain_phone(found[0]) for found in islice(PHONE_IN_LIST.finditer(text), MOST_RECIPIENTS + 1)]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file: the names of its columns, its first rows, and its text with all of them."""

    columns: tuple[str, ...] = ()
    first_rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    delimiter: str = ","
    has_names: bool = False
    """Whether the first row of the text has the names of the columns."""

    def rows(self) -> Iterator[tuple[str, ...]]:
        """All rows, as they are read. Raises TooManyRecipients or csv.Error if they cannot be read."""
        return islice(_rows(self.text, self.delimiter), int(self.has_names), None)

    @property
    def phone_column(self) -> int:
        """The column that most likely has the phones.

        That is one with an exact name of phones, such as `Phone` or `Mobile number`, or else the column whose first
        rows read like phones. Of several such columns, it is one with a word for phones in its name, such as
        `Telefonnummer`; otherwise the one with most phones, and rather one that is not called a number.
        """
        words = [_words(name) for name in self.columns]
        exact = (at for name in PHONE_NAMES for at, each in enumerate(words) if name in each and _is_of_phones(each))
        found = next(exact, None)
        if found is None:
            found = max(range(len(words)), key=lambda at: self._likeness(at, words[at]), default=0)
        return found

    def _likeness(self, place: int, words: Sequence[str]) -> tuple[bool, bool, int, bool]:
        """How much a column is like one of phones, for comparison."""
        count = sum(_like_phone(_cell(row, place)) for row in self.first_rows)
        is_called_phones = any(word in PHONE_NAMES or word.startswith(PHONE_STEMS) for word in words)
        return count > 0, is_called_phones, count, not any(word.endswith(NUMBER_NAMES) for word in words)

    def column(self, name: str) -> int | None:
        """The index of the column for a placeholder: `First Name` is for `first_name`, as in imports into groups.

        None if there is none.
        """
        names = [_placeholder_of(column) for column in self.columns]
        return names.index(name.lower()) if name.lower() in names else None


def read_table(text: str) -> Table:
    """A CSV file with commas, semicolons or tabs. Without a row of names, the columns are numbered.

    Raises csv.Error if the text is not CSV, and TooManyRecipients if it begins with too many blank rows.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers send it back, line ends are others
    first = text[:LONGEST_ROW].partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = tuple(islice(_rows(text, delimiter), SAMPLE + 1))
    if not rows:
        return Table()
    if any(_like_phone(cell) for cell in rows[0]) and not _has_name_of_phones(rows):
        columns = tuple(str(number) for number in range(1, len(rows[0]) + 1))
        return Table(columns, rows[:SAMPLE], text, delimiter)
    return Table(rows[0], rows[1:], text, delimiter, has_names=True)


def sample_of(text: str) -> str:
    """The first lines of a CSV file: the names of the columns, and as many rows as a preview can be chosen from."""
    return "".join(islice(StringIO(text, newline=""), SAMPLE + 1))


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

    An empty cell counts as no value: the API uses the placeholder's default, or refuses the row. Raises
    TooManyRecipients at the first row that is too much for one request of the API, and csv.Error.
    """
    recipients: list[dict[str, Any]] = []
    characters = 0
    for row in table.rows():
        entry: dict[str, Any] = {"phone": plain_phone(_cell(row, phone_column))}
        variables = {name: value for name, place in columns.items() if (value := _cell(row, place))}
        if variables:
            entry["variables"] = variables
        characters += len(entry["phone"]) + sum(len(name) + len(value) + IN_JSON for name, value in variables.items())
        if len(recipients) == MOST_RECIPIENTS or characters > MOST_CHARACTERS:
            raise TooManyRecipients
        recipients.append(entry)
    return recipients


def _rows(text: str, delimiter: str) -> Iterator[tuple[str, ...]]:
    """The first MOST_COLUMNS cells of the rows that are not blank, each row read when it is asked for."""
    file = StringIO(text, newline="")
    start = 0

    def lines() -> Iterator[str]:
        for line in file:
            if file.tell() - start > LONGEST_ROW:
                raise csv.Error("A row is too long.")
            yield line

    for number, row in enumerate(csv.reader(lines(), delimiter=delimiter)):
        if number == MOST_ROWS:
            raise TooManyRecipients
        cells = tuple(cell.strip() for cell in row[:MOST_COLUMNS])
        if any(cells):
            yield cells
        start = file.tell()


def _placeholder_of(column: str) -> str:
    """The placeholder that a column fills."""
    name = NOT_OF_PLACEHOLDERS.sub("_", column.strip().lower()).strip("_")
    return ("_" + name if name[:1].isdigit() else name)[:LONGEST_PLACEHOLDER]


def _cell(row: Sequence[str], place: int) -> str:
    return row[place] if 0 <= place < len(row) else ""


def _like_phone(cell: str) -> bool:
    phone = plain_phone(cell)
    return phone.isdecimal() and len(phone) >= 8 and not DATE.fullmatch(phone)


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", name.lower())


def _is_of_phones(words: Sequence[str]) -> bool:
    """Whether these are the words of an exact name of phones, such as `mobile number`."""
    return any(word in PHONE_NAMES for word in words) and all(word in PHONE_NAMES + NUMBER_NAMES for word in words)


def _has_name_of_phones(rows: Sequence[tuple[str, ...]]) -> bool:
    """Whether a cell of the first row is the name of the phones below it, rather than a kind such as `mobile`."""
    for place, name in enumerate(rows[0]):
        below = "".join(_cell(row, place) for row in rows[1:])
        if _is_of_phones(_words(name)) and (not below or any(map(str.isdecimal, below))):
            return True
    return False
