"""Parses contacts from CSV chunk by chunk, buffering at most one incomplete row.

`shared.contacts.columns` finds the columns of the phones, the tags and the fields by the first rows. Without a header,
all but the phones is ignored. What a contact cannot have is cut or left out, and counted in the report.

An apostrophe before a formula is none of the value: exports and spreadsheets write it.
"""

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

from shared.contacts.columns import FileColumns, read_columns
from shared.contacts.consent import ConsentColumns
from shared.contacts.fields import MAX_VALUE_LENGTH, value_problem
from shared.contacts.formulas import restored, value_of
from shared.contacts.groups import Contact
from shared.contacts.phone_cells import PhoneCells, unwrapped
from shared.contacts.rows import RowReader, cells_problem
from shared.contacts.tags import read_tags
from shared.contacts.text_stream import REPLACEMENT
from shared.sms.countries import country_of, country_prefix
from shared.sms.numbering import Numbering
from shared.sms.segments import FORBIDDEN
from shared.sms.spellings import other_spellings

QUOTED: Final = 40
"""Characters of a rejected value in errors."""
LISTED_COLUMNS: Final = 100
"""Names of columns in a report."""
OPT_OUTS_REMEMBERED: Final = 100_000
NOT_IN_1_0_0: Final = ("consent_columns", "opted_out", "countries_named")
"""What a checkpoint has only where a file needs it, so that workers of 1.0.0 can read the others."""
OPTED_OUT: Final = "The file says that the person has opted out: add the phone number to the opt-outs, too."
LOST_CHARACTER: Final = "A character of the row was lost (U+FFFD): export the file again, as CSV in UTF-8."


class RejectedRow(NamedTuple):
    """A row that is not a valid contact."""

    line: int
    value: str
    code: str
    detail: str


@dataclass(slots=True)
class Checkpoint:
    """The state of a reader between chunks: position, buffered text, columns, and the report so far."""

    line: int = 0
    """Number of lines read before `rest`."""
    rest: str = ""
    """The beginning of an incomplete row."""
    delimiter: str | None = None
    """None before the first row."""
    first_line: int = 0
    """The lines before it have no contacts."""
    phone: int = 0
    other_phones: list[int] = field(default_factory=list)
    """With the `width` in front of all columns, -3 for three, where 1.0.0 finds no cells."""
    labels: list[int] = field(default_factory=list)
    """The columns that say what each phone is, `phone` first; empty if there are none."""
    fields: dict[str, int] = field(default_factory=dict)
    """Column index by field name."""
    tags: int | None = None
    consent: int | None = None
    """Of an import that 1.0.0 began; not read any more."""
    consent_columns: list[list[int]] = field(default_factory=list)
    """The fields of ConsentColumns."""
    countries_named: list[int] = field(default_factory=list)
    """The columns that name the country of a row's phones."""
    phone_column: str | None = None
    """The name of the column of the phones."""
    fields_left: list[str] = field(default_factory=list)
    """The names of columns that are not read, at most LISTED_COLUMNS."""
    notes: dict[str, list[int]] = field(default_factory=dict)
    """By code, how many rows it applies to, and the line of the first one."""
    countries: dict[str, int] = field(default_factory=dict)
    """Phones by country (ISO 3166-1 alpha-2; empty: none)."""
    opted_out: list[int] = field(default_factory=list)
    """The phones of people who have opted out, at most OPT_OUTS_REMEMBERED: other rows may have them, too."""

    def as_dict(self) -> dict[str, Any]:
        """The checkpoint for JSON; restore it with `Checkpoint(**values)`."""
        return {name: value for name, value in asdict(self).items() if name not in NOT_IN_1_0_0 or value}

    @property
    def phone_columns(self) -> list[int]:
        """The columns of phones, of which the first counts most."""
        return [self.phone, *(at for at in self.other_phones if at >= 0)]

    @property
    def width(self) -> int:
        """The number of cells that a row has at most; 0: any number."""
        return -min([0, *self.other_phones])

    def begin(self, found: FileColumns, phone_column: str | None = None, fields: Sequence[str] | None = None) -> None:
        """Take the format of a file. `phone_column` and `fields` are those that a person named. Raises NoContacts."""
        phones = found.phones(phone_column)
        self.delimiter, self.first_line = found.delimiter, found.first_line
        self.phone, *self.other_phones = phones.columns
        if found.width:
            self.other_phones.append(-found.width)
        self.labels = [*phones.labels, -1] if phones.labels else []
        self.tags = found.tags({self.phone})
        columns = found.consent()
        self.consent_columns = list(map(list, columns)) if any(columns) else []
        self.countries_named = found.countries()
        self.fields = found.fields({self.phone, self.tags}, fields)
        self.phone_column = found.names[self.phone][:QUOTED]
        self.fields_left = found.left({self.phone, self.tags, *self.fields.values()})[:LISTED_COLUMNS]


class ContactReader:
    """Reads contacts from chunks of text, starting at a checkpoint."""

    def __init__(
        self, numbering: Numbering, checkpoint: Checkpoint | None = None, phone_column: str | None = None
    ) -> None:
        self._numbering = numbering
        self._phone_column = phone_column
        self.checkpoint = checkpoint or Checkpoint()
        self.opted_out: set[int] = set()
        """The phones of a chunk's people who have opted out, says the file. They are not to be in the group."""

    def read(self, chunk: str, last: bool) -> tuple[list[Contact], list[RejectedRow]]:
        """Parse the next chunk into contacts and rejected rows. Raises NoContacts if no column has the phones.

        A chunk ends at a line end unless it is the `last`; a row may continue in the next chunk.
        """
        checkpoint, self.opted_out = self.checkpoint, set()
        text = checkpoint.rest + chunk
        if checkpoint.delimiter is None:
            found = read_columns(text, self._numbering, is_whole=last)
            if found is not None:
                checkpoint.begin(found, self._phone_column)
        rows = RowReader(io.StringIO(text, newline="\n"), checkpoint.delimiter or ",", checkpoint.line, last=last)
        contacts, rejected = self._contacts(rows, REPLACEMENT in text, FORBIDDEN.search(text) is not None)
        checkpoint.line, checkpoint.rest = rows.line, rows.rest
        opted_out = self.opted_out.union(checkpoint.opted_out)
        checkpoint.opted_out = [] if last else sorted(opted_out)[:OPT_OUTS_REMEMBERED]
        return [contact for contact in contacts if contact.phone not in opted_out], rejected

    def _contacts(
        self, rows: RowReader, has_lost: bool, has_forbidden: bool
    ) -> tuple[list[Contact], list[RejectedRow]]:
        """The contacts of the rows; the flags say whether any of them has such characters."""
        checkpoint, read = self.checkpoint, self._numbering.read
        consent, has_consent = ConsentColumns(*checkpoint.consent_columns), bool(checkpoint.consent_columns)
        of_phones = checkpoint.phone_columns, checkpoint.labels, checkpoint.countries_named
        at, phones = checkpoint.phone, PhoneCells(self._numbering, *of_phones)
        is_plain = not (checkpoint.labels or checkpoint.countries_named)
        contacts: list[Contact] = []
        rejected: list[RejectedRow] = []
        prefixes: list[str] = []
        for line, row, problem in rows:
            if problem is not None:
                rejected.append(RejectedRow(line, "", "invalid", problem))
                continue
            cells = [cell.strip() for cell in row]
            if line < checkpoint.first_line or not any(cells):
                continue
            written, note = cells[at] if at < len(cells) else "", None
            if problem := cells_problem(cells, checkpoint.width, checkpoint.delimiter or ","):
                rejected.append(RejectedRow(line, written[:QUOTED], "invalid", problem))
                continue
            phone = read(written) if is_plain else None
            if phone is None:
                phone, written, note = phones.find(cells)
            if phone is None:
                rejected.append(RejectedRow(line, written[:QUOTED], **phones.problem(cells, written)))
                continue
            if has_consent and consent.say_opted_out(cells):
                rejected.append(RejectedRow(line, written[:QUOTED], "suppressed", OPTED_OUT))
                self.opted_out.update(map(int, (phone, *other_spellings(phone))))
                continue
            fields = self._fields(cells, line) if checkpoint.fields else None
            if has_lost and REPLACEMENT in "".join(cells):
                problem = LOST_CHARACTER
            elif has_forbidden and fields:
                problem = next(filter(None, map(value_problem, fields.values())), None)
            if problem is not None:
                rejected.append(RejectedRow(line, written[:QUOTED], "invalid", problem))
                continue
            if note is not None:
                self._note(note, line)
            if has_consent and consent.say_no_consent(cells):
                self._note("no_consent", line)
            contacts.append(Contact(int(phone), fields, self._tags(cells, line)))
            prefixes.append(country_prefix(phone))
        self._count_countries(prefixes)
        return contacts, rejected

    def _fields(self, cells: list[str], line: int) -> dict[str, str]:
        fields: dict[str, str] = {}
        width = len(cells)
        for name, at in self.checkpoint.fields.items():
            if at < width and (value := value_of(cells[at])):
                if value[0] == "=" or "'" in value:
                    value = restored(unwrapped(value))
                if len(value) > MAX_VALUE_LENGTH:
                    value = value[:MAX_VALUE_LENGTH].rstrip()
                    self._note("value_cut", line)
                fields[name] = value
        return fields

    def _tags(self, cells: list[str], line: int) -> Sequence[str] | None:
        at = self.checkpoint.tags
        if at is None:
            return None
        tags, notes = read_tags(value_of(cells[at]) if at < len(cells) else "")
        for note in notes:
            self._note(note, line)
        return tags

    def _note(self, code: str, line: int) -> None:
        self.checkpoint.notes.setdefault(code, [0, line])[0] += 1

    def _count_countries(self, prefixes: list[str]) -> None:
        counts = Counter(self.checkpoint.countries)
        for prefix, count in Counter(prefixes).items():
            counts[country_of(prefix) or ""] += count
        self.checkpoint.countries = dict(counts)
