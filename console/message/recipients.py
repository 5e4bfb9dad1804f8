"""Recipients as people give them: one phone, a pasted list, a CSV file with columns, or a group."""

import csv
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from typing import Any

from shared.contacts.formulas import restored
from shared.sms.numbering import numbering_of
from shared.sms.written import DATE, written_digits

PLACEHOLDER = re.compile(r"(?<!\{)\{\{ *([A-Za-z_]\w{0,31}) *(?:\|[^{}]*)?\}\}(?!\})", re.ASCII)
PHONE_NAMES = ("phone", "mobile", "msisdn", "telephone", "cell", "tel", "whatsapp", "telefon", "handy", "mobil")
"""What a column of phones is called, the most telling word first."""
PHONE_STEMS = re.compile(
    r"phone|telef|mobil|mobiel|mov[ie]l|celular|cellul|portable|handy(?!man)|rufnummer|whatsapp|msisdn"
    r"|телеф|мобил|手机|电话|thoai|\b(?:tel|cell?|simu|gsm|hp|fone)(?:n[or]|num\w*)?\b"
)
"""What is in longer names of it, such as `Telefonnummer`."""
OFTEN_BESIDE_A_MOBILE = ("tel", "telefon", "whatsapp")
"""Names of which another column with a name for phones may be the one to send to."""
NUMBER_NAMES = ("number", "nummer", "numero", "num", "namba", "no", "nr")
"""What it may also be called, but other columns are too."""
CONTACT_NAMES = ("contact", "contacts", "kontakt", "contacto", "contato")
OTHER_NUMBERS = re.compile(
    r"client|kunde|customer|account|konto|compte|cuenta|conta\b|order|bestell|auftrag|commande|pedido|\bid|kitambulisho"
    r"|invoice|rechnung|factur|\bref|code|\bdni\b|\bcpf\b"
)
"""What is in the names of columns with numbers that are no phones."""
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


def plain_phone(text: str, country: str | None = None) -> str:
    """The digits of a phone number: `+254 (711) 000-000` and, in Kenya, `0711 000 000` are 254711000000.

    `country` is that of the account, by which imports into its groups read numbers, too. Any other text is returned as
    it is, for the API to refuse: `2) 254711000000` must not become 2254711000000, which may be somebody else's phone.
    """
    digits = written_digits(text) if country is None else numbering_of(country).read(text)
    return text.strip() if digits is None else digits


def phones_of_list(text: str, country: str | None = None) -> list[str]:
    """Phones that were pasted, one on each line or separated by commas or semicolons.

    Reads only one more than MOST_RECIPIENTS: the API refuses them.
    """
    return [plain_phone(found[0], country) for found in islice(PHONE_IN_LIST.finditer(text), MOST_RECIPIENTS + 1)]


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file: the names of its columns, its first rows, and its text with all of them."""

    columns: tuple[str, ...] = ()
    first_rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    delimiter: str = ","
    has_names: bool = False
    """Whether the first row of the text has the names of the columns."""
    country: str | None = None
    """The account's country, by which phones are read."""

    def rows(self) -> Iterator[tuple[str, ...]]:
        """All rows, as they are read. Raises TooManyRecipients or csv.Error if they cannot be read."""
        return islice(_rows(self.text, self.delimiter), int(self.has_names), None)

    @property
    def phone_column(self) -> int | None:
        """The column that certainly has the phones. None if there is none, and the person has to choose.

        That is one with an exact name of phones, such as `Phone` or `Mobile number`, or else with a word for phones in
        its name, or else one that is called a number or a contact, or else the only one whose first rows read like
        phones. A name counts only if the first rows read like phones.
        """
        if len(self.columns) < 2:
            return 0
        words = [_words(name) for name in self.columns]
        exact = [at for name in PHONE_NAMES for at, each in enumerate(words) if name in each and _is_of_phones(each)]
        like_phones = [at for at in range(len(words)) if any(_like_phone(_cell(row, at)) for row in self.first_rows)]
        if not like_phones:
            return exact[0] if exact else None
        for at in exact:
            if at in like_phones:
                others = [other for other in like_phones if other != at and _is_called_phones(words[other])]
                return None if others and not {*OFTEN_BESIDE_A_MOBILE}.isdisjoint(words[at]) else at
        for is_named in (_is_called_phones, _is_called_number):
            if named := [at for at in like_phones if is_named(words[at])]:
                return named[0] if len(named) == 1 else None
        are_elsewhere = any(map(_is_called_phones, words))
        return like_phones[0] if len(like_phones) == 1 and not are_elsewhere else None

    def column(self, name: str) -> int | None:
        """The index of the column for a placeholder: `First Name` is for `first_name`, as in imports into groups.

        None if there is none.
        """
        names = [_placeholder_of(column) for column in self.columns]
        return names.index(name.lower()) if name.lower() in names else None


def read_table(text: str, country: str | None = None) -> Table:
    """A CSV file with commas, semicolons or tabs. Without a row of names, the columns are numbered.

    Raises csv.Error if the text is not CSV, and TooManyRecipients if it begins with too many blank rows.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers send it back, line ends are others
    first = text[:LONGEST_ROW].partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = tuple(islice(_rows(text, delimiter), SAMPLE + 1))
    if not rows:
        return Table()
    if not _are_names(rows):
        columns = tuple(str(number) for number in range(1, len(rows[0]) + 1))
        return Table(columns, rows[:SAMPLE], text, delimiter, country=country)
    return Table(rows[0], rows[1:], text, delimiter, has_names=True, country=country)


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
        entry: dict[str, Any] = {"phone": plain_phone(_cell(row, phone_column), table.country)}
        variables = {name: value for name, place in columns.items() if (value := _cell(row, place))}
        if variables:
            entry["variables"] = variables
        characters += len(entry["phone"]) + sum(len(name) + len(value) + IN_JSON for name, value in variables.items())
        if len(recipients) == MOST_RECIPIENTS or characters > MOST_CHARACTERS:
            raise TooManyRecipients
        recipients.append(entry)
    return recipients


def _rows(text: str, delimiter: str) -> Iterator[tuple[str, ...]]:
    """The first MOST_COLUMNS cells of the rows that are not blank, each row read when it is asked for.

    An exported file has apostrophes before what a spreadsheet would run: they are left out.
    """
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
        cells = tuple(restored(cell.strip()) for cell in row[:MOST_COLUMNS])
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


def _has_only_digits(cell: str) -> bool:
    """Whether it may be meant as a phone, although it cannot be read as one. No name of a column is like that."""
    is_long = sum(map(str.isdecimal, cell)) >= 8
    return is_long and not any(map(str.isalpha, cell)) and not DATE.fullmatch(cell.strip())


def _words(name: str) -> list[str]:
    """The words of a name in small letters without accents."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return re.findall(r"[^\W\d_]+", "".join(char for char in folded if not unicodedata.combining(char)))


def _is_of_phones(words: Sequence[str]) -> bool:
    """Whether these are the words of an exact name of phones, such as `mobile number`."""
    return any(word in PHONE_NAMES for word in words) and all(word in PHONE_NAMES + NUMBER_NAMES for word in words)


def _is_called_phones(words: Sequence[str]) -> bool:
    return PHONE_STEMS.search(" ".join(words)) is not None


def _is_called_number(words: Sequence[str]) -> bool:
    """Whether it may be a name of phones, such as `contact number`, and is not one of other numbers."""
    if not words or OTHER_NUMBERS.search(" ".join(words)):
        return False
    return any(word in CONTACT_NAMES for word in words) or all(word in NUMBER_NAMES for word in words)


def _are_names(rows: Sequence[tuple[str, ...]]) -> bool:
    """Whether the first row has the names of the columns.

    A phone in it is a name only if there is a name of phones too, and if its own column has something else below it.
    """
    phones = [place for place, cell in enumerate(rows[0]) if _like_phone(cell) or _has_only_digits(cell)]
    if not phones:
        return True
    columns = [[cell for row in rows[1:] if (cell := _cell(row, place))] for place in range(len(rows[0]))]
    have_phones = [any(map(_like_phone, column)) for column in columns]
    has_name = any(has and _is_called_phones(_words(name)) for name, has in zip(rows[0], have_phones, strict=True))
    return has_name and all(columns[place] and not have_phones[place] for place in phones)
