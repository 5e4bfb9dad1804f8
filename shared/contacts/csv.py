"""Parses contacts from CSV chunk by chunk, buffering at most one incomplete row.

The first row is a header if none of its cells looks like a number. Phones are in the column `phone`, or one with a name
that address books use, or the only column. `tags` has tags separated by semicolons; every other named column is a
field. Without a header, the first column that looks like numbers has the phones, and the others are ignored.

An apostrophe before a formula is none of the value: exports and spreadsheets write it.
"""

import csv
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

from shared.contacts.fields import MAX_FIELDS, MAX_TAGS, tag_problem, value_problem
from shared.contacts.formulas import restored
from shared.contacts.groups import Contact
from shared.sms.numbering import Numbering

__all__ = ["Checkpoint", "ContactReader", "NoContacts", "RejectedRow"]

MAX_RECORD_CHARACTERS: Final = 8_192
"""Maximum size of a row in characters; a quote that makes it longer is a mistake."""
MAX_RECORD_LINES: Final = 50
OPEN_QUOTE: Final = "The row has a quote that does not end. Close it, or write a quote inside a cell twice."
QUOTED: Final = 40
"""Characters of a rejected value in errors."""
REPLACEMENT: Final = "\ufffd"
"""The replacement character, which programs write for characters that they could not decode."""
PHONE_COLUMNS: Final = (
    "phone", "phone_number", "phonenumber", "phones", "mobile", "mobile_number", "msisdn", "number", "telephone", "tel",
    "cell", "recipient", "phone_no", "mobile_no", "mobile_phone", "cell_phone", "cellphone", "contact_number",
)  # fmt: skip

_NUMBER = re.compile(r"\d.?\d.?\d.?\d.?\d")
_NOT_OF_NAMES = re.compile(r"[^a-z0-9_]+")
_BETWEEN_TAGS = re.compile(r"[;|]")


class NoContacts(Exception):
    """The file as a whole is not usable. The message says why."""


class RejectedRow(NamedTuple):
    """A row that is not a valid contact."""

    line: int
    value: str
    code: str
    detail: str


@dataclass(slots=True)
class Checkpoint:
    """The state of a reader between chunks: position, buffered text and columns."""

    line: int = 0
    """Number of lines read before `rest`."""
    rest: str = ""
    """The beginning of an incomplete row."""
    delimiter: str | None = None
    """None before the first row."""
    phone: int = 0
    fields: dict[str, int] = field(default_factory=dict)
    """Column index by field name."""
    tags: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The checkpoint for JSON; restore it with `Checkpoint(**values)`."""
        return asdict(self)


class ContactReader:
    """Reads contacts from chunks of text, starting at a checkpoint."""

    def __init__(self, numbering: Numbering, checkpoint: Checkpoint | None = None) -> None:
        self._numbering = numbering
        self.checkpoint = checkpoint or Checkpoint()

    def read(self, chunk: str, last: bool) -> tuple[list[Contact], list[RejectedRow]]:
        """Parse the next chunk into contacts and rejected rows. Raises NoContacts for an unusable header.

        A chunk ends at a line end unless it is the `last`; a row may continue in the next chunk.
        """
        contacts: list[Contact] = []
        rejected: list[RejectedRow] = []
        for line, record in self._records(chunk, last):
            if record is None:
                rejected.append(RejectedRow(line, "", "invalid", OPEN_QUOTE))
            elif record.strip():
                result = self._contact(line, record)
                if isinstance(result, Contact):
                    contacts.append(result)
                elif result is not None:
                    rejected.append(result)
        return contacts, rejected

    def _records(self, chunk: str, last: bool) -> list[tuple[int, str | None]]:
        """The rows that end in the chunk, with the number of their first line; None for an unterminated row."""
        checkpoint = self.checkpoint
        lines = (checkpoint.rest + chunk).split("\n")
        if not lines[-1]:
            lines.pop()
        records: list[tuple[int, str | None]] = []
        at = 0
        checkpoint.rest = ""
        while at < len(lines):
            end = _end_of_record(lines, at)
            if end is None and not last and _within_limits(lines[at:]):
                checkpoint.rest = "\n".join(lines[at:]) + "\n"
                break
            records.append((checkpoint.line + at + 1, None if end is None else "\n".join(lines[at:end])))
            at = at + 1 if end is None else end
        checkpoint.line += at
        return records

    def _contact(self, line: int, record: str) -> Contact | RejectedRow | None:
        """Parse a row; None for the header and for an empty row."""
        checkpoint = self.checkpoint
        if checkpoint.delimiter is None and self._read_header(record):
            return None
        try:
            cells = _cells(record, checkpoint.delimiter or ",")
        except csv.Error as error:
            return RejectedRow(line, record[:QUOTED], "invalid", f"The row is not CSV: {error}. Check its quotes.")
        if not any(cells):
            return None
        written = cells[checkpoint.phone].lstrip("'") if checkpoint.phone < len(cells) else ""
        phone = self._numbering.read(written)
        if phone is None:
            return RejectedRow(line, written[:QUOTED], **self._numbering.problem(written))
        fields = {name: restored(cells[at]) for name, at in checkpoint.fields.items() if at < len(cells) and cells[at]}
        tags = [] if checkpoint.tags is None or checkpoint.tags >= len(cells) else _tags(cells[checkpoint.tags])
        problem = next(filter(None, [*map(value_problem, fields.values()), *map(tag_problem, tags)]), None)
        if problem is None and len(tags) > MAX_TAGS:
            problem = f"A contact has at most {MAX_TAGS} tags."
        if REPLACEMENT in record:
            problem = "A character of the row was lost (U+FFFD): export the file again, as CSV in UTF-8."
        if problem is not None:
            return RejectedRow(line, written[:QUOTED], "invalid", problem)
        return Contact(int(phone), fields if checkpoint.fields else None, tags if checkpoint.tags is not None else None)

    def _read_header(self, record: str) -> bool:
        """Detect delimiter and columns from the first row. Returns whether it is a header."""
        checkpoint = self.checkpoint
        delimiter = max(",;\t|", key=record.count)
        try:
            cells = _cells(record, delimiter)
        except csv.Error as error:
            raise NoContacts(f"The first row is not CSV: {error}.") from None
        if not any(cells):
            return True
        checkpoint.delimiter = delimiter
        numbers = [at for at, cell in enumerate(cells) if _NUMBER.search(cell)]
        if numbers:
            checkpoint.phone = numbers[0]
            return False
        names = [_NOT_OF_NAMES.sub("_", cell.strip().lower()).strip("_") for cell in cells]
        checkpoint.phone = min((names.index(name) for name in PHONE_COLUMNS if name in names), default=0)
        if names[checkpoint.phone] not in PHONE_COLUMNS and len(names) > 1:
            known = ", ".join(PHONE_COLUMNS)
            raise NoContacts(f"None of the columns in the first row has the phone numbers. Call it one of: {known}.")
        checkpoint.tags = names.index("tags") if "tags" in names else None
        for at, name in enumerate(names):
            if name and at not in (checkpoint.phone, checkpoint.tags):
                checkpoint.fields.setdefault(("_" + name if name[0].isdigit() else name)[:32], at)
        if len(checkpoint.fields) > MAX_FIELDS:
            raise NoContacts(
                f"The file has {len(checkpoint.fields)} columns of fields; a contact has at most {MAX_FIELDS}."
            )
        return True


def _end_of_record(lines: list[str], start: int) -> int | None:
    """The index after the last line of the row that begins at `start`; None if its quotes are not closed in time."""
    open_quotes = size = 0
    for at in range(start, min(len(lines), start + MAX_RECORD_LINES)):
        open_quotes ^= lines[at].count('"') & 1
        size += len(lines[at])
        if size > MAX_RECORD_CHARACTERS and at > start:
            return None
        if not open_quotes:
            return at + 1
    return None


def _within_limits(lines: list[str]) -> bool:
    return len(lines) < MAX_RECORD_LINES and sum(map(len, lines)) <= MAX_RECORD_CHARACTERS


def _cells(record: str, delimiter: str) -> list[str]:
    if '"' not in record:
        return [cell.strip() for cell in record.split(delimiter)]
    return [cell.strip() for row in csv.reader([record], delimiter=delimiter) for cell in row]


def _tags(cell: str) -> list[str]:
    return [tag for tag in (part.strip() for part in _BETWEEN_TAGS.split(restored(cell))) if tag]
